# The only way out of an agent's network: a proxy that lets listed hosts through, by name, and writes down the rest.
# What it lets through is put in when its container is made, so one image serves every cell.
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${BASE_IMAGE}

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tinyproxy \
    && rm -rf /var/lib/apt/lists/* \
    && tinyproxy -v
USER tinyproxy
WORKDIR /
