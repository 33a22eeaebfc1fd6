#!/bin/bash
{{>head}}
# What the machine does when it starts; launch-gcloud.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root
mkdir -p /job/checkpoints && cd /job || exit 1
metadata() { curl -s -H 'Metadata-Flavor: Google' "http://metadata.google.internal/computeMetadata/v1/instance/$1"; }
store=$(metadata attributes/store)
{{#gated}}
HF_TOKEN=$(gcloud secrets versions access latest --secret="$(metadata attributes/job)")
export HF_TOKEN
{{/gated}}
{{#linked}}
# The machines are numbered by their names.
name=$(metadata name)
export NODE_RANK=$((${name##*-} - 1)) MASTER_ADDR=${name%-*}-1
{{/linked}}
gcloud storage cp --recursive "$store/job/*" .
{{>environment}}
{{#training}}
gcloud storage rsync --recursive "$store/checkpoints" checkpoints || true
keep() { gcloud storage rsync --recursive kept "$store/checkpoints" && gcloud storage cp log.txt "$store/"; }
{{/training}}
{{>run-here}}
gcloud storage cp log.txt "$store/log-$(metadata name).txt"
# The machine ends with the job: it deletes itself, or, where its service account may not, switches itself off; then its
# disk is paid for until "launch-gcloud.sh stop".
gcloud compute instances delete "$(metadata name)" --zone="$(basename "$(metadata zone)")" --quiet
shutdown -h now
