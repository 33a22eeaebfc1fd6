#!/usr/bin/env bash
{{>head}}
# Start it: bash launch-gcloud.sh
# Stop it: bash launch-gcloud.sh stop; with "clean" in place of "stop", its files and checkpoints in the bucket are deleted too.
set -euo pipefail

# Yours to fill in.
: "${PROJECT:?the id of your Google Cloud project}"
: "${BUCKET:?a Cloud Storage bucket for data, weights and checkpoints, as gs://name; it is made where there is none}"
# Started again under this name, the job goes on from its last checkpoint; under another it begins anew.
JOB=${JOB:-{{job|name}}}
REGION=${REGION:-{{region|word}}}
{{#tpu}}
ZONE=${ZONE:-$REGION-a}
{{/tpu}}
{{^tpu}}
# A zone of it, where any that has the machines will not do.
ZONE=${ZONE:-}
{{/tpu}}
BILLING_ACCOUNT=${BILLING_ACCOUNT:-}
STORE=$BUCKET/$JOB

{{#tpu}}
stop_machines() { gcloud compute tpus tpu-vm delete "$JOB" --project="$PROJECT" --zone="$ZONE" --quiet; }
{{/tpu}}
{{^tpu}}
machines() { gcloud compute instances list --project="$PROJECT" --filter="labels.job=$JOB" --format="value(name, zone.basename())"; }
stop_machines() {
  machines | while read -r name zone; do
    gcloud compute instances delete "$name" --project="$PROJECT" --zone="$zone" --quiet </dev/null
  done
{{#close_together}}
  gcloud compute resource-policies delete "$JOB" --project="$PROJECT" --region="$REGION" --quiet || true
{{/close_together}}
}
{{/tpu}}
case ${1:-start} in
  start) ;;
  stop) stop_machines; exit ;;
  clean)
    stop_machines || true
{{#gated}}
    gcloud secrets delete "$JOB" --project="$PROJECT" --quiet || true
{{/gated}}
    gcloud storage rm --recursive "$STORE"
    exit ;;
  *) echo "start, stop or clean?" >&2; exit 2 ;;
esac
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
{{^tpu}}
[ -z "$(machines)" ] || { echo "Machines of $JOB are there already: stop them first, or choose another JOB." >&2; exit 1; }
{{/tpu}}
{{#tpu}}
! grep -q "Put your network here" train_jax.py || { echo "Put your network into train_jax.py before a TPU is paid for." >&2; exit 1; }
[ -e data ] || { echo "Put your examples in the folder data, beside these files." >&2; exit 1; }
{{/tpu}}
{{^tpu}}
{{>checked}}
{{/tpu}}

# An alarm before the money is gone.
if [ -z "$BILLING_ACCOUNT" ]; then
  echo "No alarm: BILLING_ACCOUNT is not set (gcloud billing accounts list)." >&2
elif [ -z "$(gcloud billing budgets list --billing-account="$BILLING_ACCOUNT" --filter="displayName=$JOB" --format="value(name)")" ]; then
  gcloud billing budgets create --billing-account="$BILLING_ACCOUNT" --display-name="$JOB" \
    --filter-projects="projects/$PROJECT" --budget-amount={{budget|word}}{{currency|word}} \
    --threshold-rule=percent=0.5 --threshold-rule=percent=0.9 --threshold-rule=percent=1.0 ||
    echo "No alarm was set: an account is billed in one currency, and takes budgets in that one alone." >&2
fi

# In the region of the machines: what goes to another is paid for.
gcloud storage buckets describe "$BUCKET" >/dev/null 2>&1 ||
  gcloud storage buckets create "$BUCKET" --project="$PROJECT" --location="$REGION" --uniform-bucket-level-access

# What the machine may do, before it starts.
number=$(gcloud projects describe "$PROJECT" --format="value(projectNumber)")
SERVICE_ACCOUNT=${SERVICE_ACCOUNT:-$number-compute@developer.gserviceaccount.com}
gcloud storage buckets add-iam-policy-binding "$BUCKET" --member="serviceAccount:$SERVICE_ACCOUNT" --role=roles/storage.objectAdmin >/dev/null
{{#tpu}}

# What the machine fetches when it starts.
gcloud storage rsync --recursive --delete-unmatched-destination-objects data "$STORE/job/data"

# An alarm clock on the TPU, for a computer here that goes to sleep: it deletes itself, where its service account may.
alarm=$(mktemp)
printf '#!/bin/bash\n(sleep %d && gcloud compute tpus tpu-vm delete "%s" --zone="%s" --quiet) &\n' {{run_seconds|word}} "$JOB" "$ZONE" >"$alarm"
trap 'stop_machines || true; exit 130' INT TERM
gcloud compute tpus tpu-vm create "$JOB" --project="$PROJECT" --zone="$ZONE" \
  --accelerator-type={{tpu_type|word}} --version={{tpu_version|word}}{{#spot}} --spot{{/spot}} \
  --service-account="$SERVICE_ACCOUNT" --scopes=cloud-platform --metadata-from-file=startup-script="$alarm"
rm "$alarm"
trap - INT TERM
# Another one, while this script runs: it is deleted after {{run_hours|word}} hours.
(sleep {{run_seconds|word}} && stop_machines) &
clock=$!
# However this script ends: what was learnt is fetched, and the TPU is paid for no longer.
finish() {
  kill "$clock" 2>/dev/null || true
  gcloud compute tpus tpu-vm scp --recurse "$JOB":checkpoints "$JOB" --project="$PROJECT" --zone="$ZONE" --worker=0 &&
    gcloud storage rsync --recursive "$JOB/checkpoints" "$STORE/checkpoints" || echo "No checkpoints were fetched." >&2
  stop_machines || echo "Delete the TPU by hand: it is still paid for." >&2
}
trap finish EXIT

# It goes on from what an earlier run of this name learnt.
mkdir -p "$JOB/checkpoints"
gcloud storage rsync --recursive "$STORE/checkpoints" "$JOB/checkpoints" || true
gcloud compute tpus tpu-vm scp --recurse train_jax.py "$JOB/checkpoints" "$JOB": --project="$PROJECT" --zone="$ZONE" --worker=all
gcloud compute tpus tpu-vm ssh "$JOB" --project="$PROJECT" --zone="$ZONE" --worker=all \
  --command="gcloud storage cp --recursive $STORE/job/data . && pip install -U 'jax[tpu]' -f https://storage.googleapis.com/jax-releases/libtpu_releases.html && python3 train_jax.py --data data --epochs {{epochs|word}} --batch {{global_batch|word}} --checkpoints checkpoints"
# With TensorFlow instead: tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver("local")).
{{/tpu}}
{{^tpu}}
{{#gated}}
# The token is kept apart from what everybody in the project can read of a machine.
gcloud services enable secretmanager.googleapis.com --project="$PROJECT"
gcloud secrets describe "$JOB" --project="$PROJECT" >/dev/null 2>&1 || gcloud secrets create "$JOB" --project="$PROJECT"
printf '%s' "$HF_TOKEN" | gcloud secrets versions add "$JOB" --project="$PROJECT" --data-file=-
gcloud secrets add-iam-policy-binding "$JOB" --project="$PROJECT" --member="serviceAccount:$SERVICE_ACCOUNT" --role=roles/secretmanager.secretAccessor >/dev/null
{{/gated}}

# What the machine fetches when it starts.
for part in model.sh run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf; do
  [ ! -e "$part" ] || gcloud storage cp "$part" "$STORE/job/"
done
[ ! -e data ] || gcloud storage rsync --recursive --delete-unmatched-destination-objects data "$STORE/job/data"

{{#gpudirect}}
# These machines reach the speed that the estimate counts on between them through GPUDirect, which takes networks and a
# plugin of NCCL that Google's Cluster Toolkit and GKE set up. Over the one network here, exchanging gradients takes longer.
{{/gpudirect}}
{{#close_together}}
gcloud compute resource-policies describe "$JOB" --project="$PROJECT" --region="$REGION" >/dev/null 2>&1 ||
  gcloud compute resource-policies create group-placement "$JOB" --project="$PROJECT" --region="$REGION" --collocation=collocated
{{/close_together}}
# All of them or none, in one zone that has them.
place=(--region="$REGION" --target-distribution-shape=any-single-zone)
[ -z "$ZONE" ] || place=(--zone="$ZONE")
gcloud compute instances bulk create --predefined-names="$(seq -s, -f "$JOB-%.0f" {{nodes|word}})" --project="$PROJECT" "${place[@]}" --labels=job="$JOB" \
  --machine-type={{instance|word}}{{#attached}} --accelerator="type={{gcp_accelerator|word}},count={{per_node|word}}"{{/attached}} \
  --image-family={{gcp_image_family|word}} --image-project={{gcp_image_project|word}} --boot-disk-size={{disk_gb|word}}GB{{#slow_disk}} --boot-disk-type=pd-balanced{{/slow_disk}} \
  --maintenance-policy=TERMINATE{{#spot}} --provisioning-model=SPOT{{/spot}}{{#close_together}} --resource-policies="$JOB" --network-interface=nic-type=GVNIC{{/close_together}} \
{{^serving}}
  --max-run-duration={{run_seconds|word}}s --instance-termination-action=DELETE \
{{/serving}}
  --service-account="$SERVICE_ACCOUNT" --scopes={{#gated}}cloud-platform{{/gated}}{{^gated}}storage-rw,compute-rw{{/gated}} \
  --metadata=job="$JOB",store="$STORE" --metadata-from-file=startup-script=startup-gcloud.sh
machines | while read -r name zone; do
  echo "Look into it: gcloud compute ssh $name --project $PROJECT --zone $zone --command 'tail -f /job/log.txt'"
{{#serving}}
  echo "Ask it through a tunnel: gcloud compute ssh $name --project $PROJECT --zone $zone -- -L {{port|word}}:localhost:{{port|word}}"
{{/serving}}
done
{{#training}}
echo "What it learnt: $STORE/checkpoints{{#trains_network}}; once it has ended, for use, $STORE/checkpoints/result{{/trains_network}}"
{{/training}}
{{/tpu}}
