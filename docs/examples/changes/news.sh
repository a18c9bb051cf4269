#!/bin/sh
# Prints what happens to questions, and continues where it was when it is started again.
# Usage: CREDENTIAL=alice:password ./news.sh https://gateway.example
# It needs curl and jq. A token can take the place of the password. After history_gone, remove the file last-id.
: "${CREDENTIAL:?must be name:password}" "${1:?must be the address of the gateway}"
last=$(cat last-id 2>/dev/null)
printf 'user = "%s"\n' "$CREDENTIAL" |
  curl --silent --show-error --no-buffer --config - ${last:+--header "Last-Event-ID: $last"} \
    "${1%/}/services/v2/changes/events?kinds=question" |
  while read -r field value || [ -n "$field" ]; do
    case $field in
      id:) id=$value ;;
      data:) printf '%s\n' "$value" | jq -r 'select(.kind) | "\(.kind): \(.data.title)"' ;;
      '') [ -n "$id" ] && echo "$id" > last-id ;; # the end of an event, which has been printed
      '{'*) printf '%s %s\n' "$field" "$value" >&2 ;; # an error
    esac
  done
