# A static program, run by nobody, on a file system that holds nothing but what is copied here: no shell, no package manager, no
# library. "make image" builds it. "make image-check" builds it with buildah, on another base, where there is no container engine.
#
# Images are pinned by version and by digest. BUILDER may name any other that has this Go, or a later one.
ARG BUILDER=golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG NODE=node:24.20.0-bookworm-slim@sha256:ba849c60be29959425b8734d57b8b4b7d56f98edd9504c9af091d5281095a71e

FROM --platform=${BUILDPLATFORM} ${BUILDER} AS build
WORKDIR /src
COPY go.mod go.sum ./
COPY tools/go.mod tools/go.sum ./tools/
RUN go mod download && go -C tools mod download
COPY . .
ARG VERSION=dev
ARG COMMIT
ARG TARGETPLATFORM
ARG SOURCE_DATE_EPOCH=0
# The program has the same bits as the one in the archive of a release. What it is made of lies beside it, and what programs look for
# on any system: whom to trust, where which time is, who it is, and a place for what is needed for a moment.
RUN mkdir -p /image/usr/local/bin /image/usr/share/doc/tooldex /image/etc/ssl/certs /image/tmp /data \
	&& CGO_ENABLED=0 go -C tools build -trimpath -o /release ./release \
	&& /release binary -platform "${TARGETPLATFORM}" -version "${VERSION}" -commit "${COMMIT}" -o /image/usr/local/bin/tooldex \
	&& /release sbom -version "${VERSION}" -commit "${COMMIT}" -o /image/usr/share/doc/tooldex/tooldex.cdx.json /image/usr/local/bin/tooldex \
	&& /release notices -platform "${TARGETPLATFORM}" -o /image/usr/share/doc/tooldex/THIRD_PARTY \
	&& cp LICENSE NOTICE /image/usr/share/doc/tooldex/ \
	&& cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
	&& cp "$(go env GOROOT)/lib/time/zoneinfo.zip" /image/usr/share/ \
	&& echo 'tooldex:x:65532:65532:tooldex:/data:/none' > /image/etc/passwd \
	&& echo 'tooldex:x:65532:' > /image/etc/group \
	&& chmod 1777 /image/tmp

# For servers that are programs of npm, which the other image has nothing to run with: docker build --target with-node.
FROM ${NODE} AS with-node
COPY --from=build /image/usr/ /usr/
COPY --from=build --chown=65532:65532 /data /data
ENV TOOLDEX_DATA_DIR=/data HOME=/data
VOLUME /data
EXPOSE 8733
USER 65532:65532
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["/usr/local/bin/tooldex", "health"]
ENTRYPOINT ["/usr/local/bin/tooldex"]
CMD ["serve", "--listen", "0.0.0.0:8733"]

FROM scratch AS tooldex
COPY --from=build /image/ /
COPY --from=build --chown=65532:65532 /data /data
ENV TOOLDEX_DATA_DIR=/data HOME=/data ZONEINFO=/usr/share/zoneinfo.zip
VOLUME /data
EXPOSE 8733
USER 65532:65532
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["/usr/local/bin/tooldex", "health"]
ENTRYPOINT ["/usr/local/bin/tooldex"]
# Inside a container only its own address reaches others, and such an address needs a token: give TOOLDEX_TOKEN.
CMD ["serve", "--listen", "0.0.0.0:8733"]
