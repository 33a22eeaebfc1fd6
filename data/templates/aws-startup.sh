#!/bin/bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# What the machine does when it starts; launch-aws.sh sends it.
# Stop it: shutdown -h now, on the machine
# Checkpoints go to the bucket every {{checkpoint_minutes|word}} minutes; the machine ends when the job does,
# and after {{run_hours|word}} hours whatever happens.
shutdown -h +$(({{run_seconds|word}} / 60))
mkdir -p /job && cd /job
aws s3 cp --recursive "@BUCKET@/job" . || true
(while sleep {{checkpoint_minutes|word}}m; do aws s3 sync checkpoints "@BUCKET@/checkpoints"; done) &
bash run.sh >log.txt 2>&1
aws s3 cp log.txt "@BUCKET@/" && aws s3 sync checkpoints "@BUCKET@/checkpoints"
shutdown -h now
