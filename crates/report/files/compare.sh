if [ "$status" != "$expected_status" ]; then
  echo 'the failure does not show'
elif [ "$body" = "$expected_body" ]; then
  echo 'the failure shows'
  exit 1
else
  echo 'another answer with the same status: ioco replay judges it'
  exit 2
fi
