#!/bin/sh
# Makes the role and the database of tooldex, with no more rights than docs/guides/scale.md names.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$POSTGRES_PASSWORD" -U "${POSTGRES_USER:-postgres}" <<'SQL'
CREATE ROLE tooldex LOGIN PASSWORD :'password';
CREATE DATABASE tooldex;
\c tooldex
CREATE SCHEMA tooldex AUTHORIZATION tooldex;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
