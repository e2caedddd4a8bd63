ARG BASE_IMAGE={{image}}
FROM ${BASE_IMAGE}

# What the language needs and the base lacks, and a run user: root would pass tests that a person's account fails.
USER root
RUN set -eu; \
    missing=""; \
{{checks}}
    if [ -n "$missing" ]; then \
        export DEBIAN_FRONTEND=noninteractive; \
        apt-get update && apt-get install -y --no-install-recommends $missing && rm -rf /var/lib/apt/lists/*; \
    fi; \
    if ! id berbench >/dev/null 2>&1; then \
        useradd --create-home --uid 1000 berbench 2>/dev/null || useradd --create-home berbench || adduser -D berbench; \
    fi; \
    mkdir -p /repo /opt/berbench && chown berbench /repo /opt/berbench
USER berbench
ENV HOME=/home/berbench
