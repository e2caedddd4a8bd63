# The only way out of an agent's network: a proxy that lets listed hosts through, by name, and writes down the rest.
# What it lets through is put in when its container is made, so one image serves every cell.
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${BASE_IMAGE}

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tinyproxy squid-openssl openssl \
    && rm -rf /var/lib/apt/lists/* \
    && tinyproxy -v && squid -v
# squid asks for a certificate where it listens for greetings of TLS. It decrypts nothing, so nobody is shown this one.
RUN openssl req -x509 -newkey rsa:2048 -nodes -batch -subj /CN=unused -days 36500 \
        -keyout /etc/squid/unused.key -out /etc/squid/unused.pem \
    && cat /etc/squid/unused.key >>/etc/squid/unused.pem && rm /etc/squid/unused.key \
    && chmod 644 /etc/squid/unused.pem
USER proxy
WORKDIR /
