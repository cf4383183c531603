#!/bin/sh
# Debian's Prometheus 2.42 without the one option of docker-compose.yml that it does not know.
for argument do
  shift
  [ "$argument" = --web.enable-otlp-receiver ] || set -- "$@" "$argument"
done
exec /usr/bin/prometheus "$@"
