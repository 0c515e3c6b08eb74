#!/bin/sh
# The namespace and the search attributes of workflows/search-attributes.ts (a test compares them).
# Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Can run any number of times.
set -eu

if ! temporal operator namespace describe >/dev/null 2>&1; then
  temporal operator namespace create --retention 30d
fi

# A new namespace is seen by the other parts of the server a moment later.
attempt=0
until temporal operator search-attribute list >/dev/null 2>&1; do
  attempt=$((attempt + 1))
  [ "$attempt" -lt 60 ] || exit 1
  sleep 1
done

existing=$(temporal operator search-attribute list)
while read -r name type; do
  found=$(echo "$existing" | awk -v name="$name" '$1 == name { print $2 }')
  if [ -z "$found" ]; then
    temporal operator search-attribute create --name "$name" --type "$type"
  elif [ "$found" != "$type" ]; then
    echo "Search attribute $name is $found, not $type: remove it or use another namespace." >&2
    exit 1
  fi
done <<'ATTRIBUTES'
OrderRef Keyword
OrderBuyer Keyword
OrderStep Keyword
OrderStatus Keyword
OrderOutcome Keyword
OrderWaitsFor Keyword
OrderWaitsUntil Datetime
ATTRIBUTES
