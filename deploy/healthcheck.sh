#!/bin/busybox sh
# The health check of the container. It exits with 0 if the admin side responds to /livez without an error within three
# seconds, and otherwise with 1. It reads ADMIN_HOST and ADMIN_PORT as Portico does, so set the admin side's address with
# these variables, not in the configuration file. It ignores proxy variables in the environment.
host=${ADMIN_HOST:-127.0.0.1}
case $host in
  0.0.0.0) host=127.0.0.1 ;;
  ::) host='[::1]' ;;
  *:*) host="[$host]" ;;
esac
# This does not use wget's own timeout (-T), because it makes some versions of busybox crash and does not limit the
# total time of a slow response.
/bin/busybox timeout 3 /bin/busybox wget -q -Y off -O /dev/null "http://$host:${ADMIN_PORT:-8081}/livez" || exit 1
