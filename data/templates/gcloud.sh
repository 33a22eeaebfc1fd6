#!/usr/bin/env bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# Stop it: {{#tpu}}gcloud compute tpus tpu-vm delete{{/tpu}}{{^tpu}}gcloud compute instances delete{{/tpu}} {{job|name}} --zone "$ZONE"
set -euo pipefail

# Yours to fill in.
: "${PROJECT:?the id of your Google Cloud project}"
: "${BUCKET:?a Cloud Storage bucket for weights and checkpoints, as gs://name}"
ZONE=${ZONE:-{{region|word}}-a}
BILLING_ACCOUNT=${BILLING_ACCOUNT:-}

# An alarm before the money is gone.
if [ -n "$BILLING_ACCOUNT" ]; then
  gcloud billing budgets create --billing-account="$BILLING_ACCOUNT" --display-name={{title|shell}} \
    --filter-projects="projects/$PROJECT" --budget-amount={{budget|word}}{{currency|word}} \
    --threshold-rule=percent=0.5 --threshold-rule=percent=0.9 --threshold-rule=percent=1.0
fi

{{#tpu}}
gcloud compute tpus tpu-vm create {{job|name}} --project="$PROJECT" --zone="$ZONE" \
  --accelerator-type={{tpu_type|word}} --version={{tpu_version|word}}{{#spot}} --spot{{/spot}}

gcloud compute tpus tpu-vm ssh {{job|name}} --project="$PROJECT" --zone="$ZONE" --worker=all \
  --command="pip install -U 'jax[tpu]' -f https://storage.googleapis.com/jax-releases/libtpu_releases.html && python3 -c 'import jax; print(jax.device_count(), jax.devices()[0].device_kind)'"
# With TensorFlow: tf.distribute.cluster_resolver.TPUClusterResolver("local").
# The alarm clock: it is deleted after {{run_hours|word}} hours, whatever happens.
(sleep {{run_seconds|word}} && gcloud compute tpus tpu-vm delete {{job|name}} --project="$PROJECT" --zone="$ZONE" --quiet) &
echo "Save checkpoints with: gcloud storage cp -r checkpoints $BUCKET/"
{{/tpu}}
{{^tpu}}
for number in $(seq 1 {{nodes|word}}); do
  gcloud compute instances create {{job|name}}-"$number" --project="$PROJECT" --zone="$ZONE" \
    --machine-type={{instance|word}}{{#attached}} --accelerator="type=nvidia-tesla-t4,count={{per_node|word}}"{{/attached}} \
    --image-family={{gcp_image_family|word}} --image-project={{gcp_image_project|word}} \
    --boot-disk-size=200GB --maintenance-policy=TERMINATE{{#spot}} --provisioning-model=SPOT{{/spot}} \
    --max-run-duration={{run_seconds|word}}s --instance-termination-action=DELETE \
    --scopes=storage-rw --metadata=bucket="$BUCKET" --metadata-from-file=startup-script=startup.sh
done
echo "Put run.sh and train.py (formats torchrun and script) into $BUCKET/job before you start."
{{/tpu}}
