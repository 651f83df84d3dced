// Command candidates measures whether a search engine that others operate could choose the tools that tooldex ranks:
// how many of the first ten tools of a search are among what the engine gives, how long it takes to give them, and how
// fast it takes tools in. docs/adr/0048 has the figures and what follows from them.
//
//	bin/tools/candidates -data DIR -postgres URL -weaviate URL intents unprepared
//	bin/tools/candidates -data DIR -postgres URL -words=false -requests intents FOLDER
//	bin/tools/candidates -data DIR -search -requests unprepared FOLDER
//
// An argument is a set below DIR, with its own requests, or a data directory of tooldex whose index is written, with
// the requests of a set. The engines are the index of tooldex itself, all of whose tools are read, which shows what the
// number of candidates costs; PostgreSQL with the extension vector, whose table candidate is replaced; and Weaviate,
// whose collection Tool is replaced.
//
// The extension is the package postgresql-17-pgvector of Debian 13. For the PostgreSQL 15 of Debian 12 it builds from
// the source package pgvector with postgresql-server-dev-15, in half a minute. Weaviate builds by
// go install github.com/weaviate/weaviate/cmd/weaviate-server@v1.35.2.
package main
