#!/bin/sh
# Certificates for nats.conf in the folder tls: an authority, the server, a coordinator and a worker.
#
#     deploy/certificates.sh queue.example
#
# Keep ca.key to yourself. Workers need ca.pem, worker.pem and worker.key.
set -eu
host=${1:?the name by which clients reach the NATS server}
days=${2:-365}
umask 077
mkdir -p tls
cd tls
new="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
# shellcheck disable=SC2086
[ -e ca.pem ] || openssl req -x509 $new -keyout ca.key -out ca.pem -subj "/CN=ioco campaigns" -days "$days"

# certificate NAME EXTENSIONS
certificate() {
    # shellcheck disable=SC2086
    openssl req $new -keyout "$1.key" -out "$1.csr" -subj "/CN=$1"
    printf '%s\n' "$2" > "$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$1.pem" -days "$days" \
        -extfile "$1.ext"
    rm "$1.csr" "$1.ext"
}

certificate server "subjectAltName=DNS:$host,DNS:localhost,IP:127.0.0.1"
for user in coordinator worker; do
    certificate "$user" "subjectAltName=email:$user@ioco
extendedKeyUsage=clientAuth"
done
