#!/bin/sh
# The namespace and the search attributes of workflows/search-attributes.ts (a test compares them).
# Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Can run any number of times.
set -eu

# Named each time: `namespace create` does not look at TEMPORAL_NAMESPACE.
operator() {
  temporal operator "$@" --namespace "$TEMPORAL_NAMESPACE"
}

operator namespace describe >/dev/null 2>&1 || operator namespace create --retention 30d

# A new namespace is seen by the other parts of the server a moment later.
attempt=0
until existing=$(operator search-attribute list 2>&1); do
  attempt=$((attempt + 1))
  if [ "$attempt" -ge 60 ]; then
    echo "$existing" >&2
    exit 1
  fi
  sleep 1
done

while read -r name type; do
  found=$(echo "$existing" | awk -v name="$name" '$1 == name { print $2 }')
  if [ -z "$found" ]; then
    operator search-attribute create --name "$name" --type "$type"
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
