#!/bin/bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# What the machine does when it starts; launch-gcloud.sh sends it.
# Stop it: shutdown -h now, on the machine
# Checkpoints go to the bucket every {{checkpoint_minutes|word}} minutes; the machine ends when the job does.
bucket=$(curl -s -H 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/instance/attributes/bucket)
mkdir -p /job && cd /job
gcloud storage cp -r "$bucket/job/*" . || true
(while sleep {{checkpoint_minutes|word}}m; do gcloud storage rsync -r checkpoints "$bucket/checkpoints"; done) &
bash run.sh >log.txt 2>&1
gcloud storage cp log.txt "$bucket/" && gcloud storage rsync -r checkpoints "$bucket/checkpoints"
shutdown -h now
