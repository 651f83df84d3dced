# A static program for an unprivileged user on an otherwise empty file system: no shell, no package manager, no libraries. "make
# image" builds it; "make image-check" builds it with buildah on another base, without a container engine.
#
# Images are pinned by version and digest. BUILDER may name any other image with this Go or a later one.
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
# The program has the same bits as in the archive of a release. With it go its bill of materials and licences, CA certificates, time
# zones, a user, and /tmp.
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

# For servers that are npm programs, which need Node: docker build --target with-node.
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
# A container is reached by an address that is not loopback, which needs a token: set TOOLDEX_TOKEN.
CMD ["serve", "--listen", "0.0.0.0:8733"]
