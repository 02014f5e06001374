# Control characters of the system are not for the terminal.
show() {
  printf '%s %s %s\n' "$1" "$2" "$3" | LC_ALL=C tr '\000-\011\013-\037\177' '?'
}

call() {
  show '→' "$1" "$2"
  if [ $# -gt 2 ]; then
    answer=$(curl -gsS -X "$1" -w '\n%{http_code}' -H 'Content-Type: application/json' \
      --data-raw "$3" "$base$2") || exit 3
  else
    answer=$(curl -gsS -X "$1" -w '\n%{http_code}' "$base$2") || exit 3
  fi
  status=$(printf '%s' "$answer" | tail -n 1)
  body=$(printf '%s' "$answer" | sed '$d')
  show '←' "$status" "$body"
}

