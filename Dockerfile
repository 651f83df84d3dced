# A static binary, run by nobody, on an image that holds nothing else.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /tooldex ./cmd/tooldex \
	&& mkdir -p /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /tooldex /usr/local/bin/tooldex
COPY --from=build --chown=65532:65532 /data /data
ENV TOOLDEX_DATA_DIR=/data
VOLUME /data
EXPOSE 8733
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/tooldex"]
# Inside a container only its own address reaches others, and such an address needs a token: give TOOLDEX_TOKEN.
CMD ["serve", "--listen", "0.0.0.0:8733"]
