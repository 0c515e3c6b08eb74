#!/bin/sh
# Brings Temporal's databases up to the schema of this image. Can run any number of times: the tool
# reads SQL_* from the environment and applies only the versions that a database lacks.
set -eu

for database in temporal temporal_visibility; do
  case $database in
    temporal) schema=temporal ;;
    *) schema=visibility ;;
  esac
  temporal-sql-tool --db "$database" create
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  temporal-sql-tool --db "$database" update-schema \
    -d "${SCHEMA_DIR:-/etc/temporal/schema/postgresql/v12}/$schema/versioned"
done
