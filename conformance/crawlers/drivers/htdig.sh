# Writes a configuration for ht://Dig and runs it.
printf 'start_url: %s\nlimit_urls_to: %s\ndatabase_dir: %s\nserver_wait_time: 0\n' "$1" "$1" "$2" >"$2/htdig.conf"
exec htdig -i -c "$2/htdig.conf"
