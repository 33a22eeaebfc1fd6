#!/bin/bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# What the machine does when it starts; launch-azure.sh sends it.
# Stop it: shutdown -h now, on the machine
# Ends after {{run_hours|word}} hours whatever happens.
shutdown -h +$(({{run_seconds|word}} / 60))
mkdir -p /job && cd /job
az login --identity
az storage blob download-batch --account-name "@STORAGE_ACCOUNT@" --auth-mode login -s job -d . || true
(while sleep {{checkpoint_minutes|word}}m; do az storage blob upload-batch --account-name "@STORAGE_ACCOUNT@" --auth-mode login -d job -s checkpoints --destination-path checkpoints --overwrite; done) &
bash run.sh >log.txt 2>&1
az storage blob upload-batch --account-name "@STORAGE_ACCOUNT@" --auth-mode login -d job -s checkpoints --destination-path checkpoints --overwrite
shutdown -h now
