#!/bin/bash
# Looks at what it was given, and says so.
set -u
echo "first: ${1:-none}"
echo "all: $*"
echo "level: ${LEVEL:-none}"
exit "${3:-0}"
