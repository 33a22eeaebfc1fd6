#!/usr/bin/env bash
{{>head}}
# Stop it: {{#tpu}}gcloud compute tpus tpu-vm delete {{job|name}} --zone "$ZONE"{{/tpu}}{{^tpu}}gcloud compute instances delete {{job|name}}-{1..{{nodes|word}}} --zone ZONE --project PROJECT{{/tpu}}
set -euo pipefail

# Yours to fill in.
: "${PROJECT:?the id of your Google Cloud project}"
: "${BUCKET:?a Cloud Storage bucket for data, weights and checkpoints, as gs://name}"
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
ZONE=${ZONE:-{{region|word}}-a}
BILLING_ACCOUNT=${BILLING_ACCOUNT:-}

# An alarm before the money is gone.
if [ -n "$BILLING_ACCOUNT" ]; then
  gcloud billing budgets create --billing-account="$BILLING_ACCOUNT" --display-name={{job|name}} \
    --filter-projects="projects/$PROJECT" --budget-amount={{budget|word}}{{currency|word}} \
    --threshold-rule=percent=0.5 --threshold-rule=percent=0.9 --threshold-rule=percent=1.0
else
  echo "No alarm: BILLING_ACCOUNT is not set (gcloud billing accounts list)." >&2
fi

{{#tpu}}
! grep -q "Put your network here" train_jax.py || { echo "Put your network into train_jax.py before a TPU is paid for." >&2; exit 1; }
gcloud compute tpus tpu-vm create {{job|name}} --project="$PROJECT" --zone="$ZONE" \
  --accelerator-type={{tpu_type|word}} --version={{tpu_version|word}}{{#spot}} --spot{{/spot}}
# The alarm clock, while this script runs: it is deleted after {{run_hours|word}} hours.
(sleep {{run_seconds|word}} && gcloud compute tpus tpu-vm delete {{job|name}} --project="$PROJECT" --zone="$ZONE" --quiet) &
clock=$!
# However this script ends: what was learnt is fetched, and the TPU is paid for no longer.
finish() {
  kill "$clock" 2>/dev/null || true
  gcloud compute tpus tpu-vm scp --recurse {{job|name}}:checkpoints . --project="$PROJECT" --zone="$ZONE" --worker=0 &&
    gcloud storage cp -r checkpoints "$BUCKET/" || echo "No checkpoints were fetched." >&2
  gcloud compute tpus tpu-vm delete {{job|name}} --project="$PROJECT" --zone="$ZONE" --quiet ||
    echo "Delete the TPU by hand: it is still paid for." >&2
}
trap finish EXIT

gcloud compute tpus tpu-vm scp train_jax.py {{job|name}}: --project="$PROJECT" --zone="$ZONE" --worker=all
gcloud compute tpus tpu-vm ssh {{job|name}} --project="$PROJECT" --zone="$ZONE" --worker=all \
  --command="pip install -U 'jax[tpu]' -f https://storage.googleapis.com/jax-releases/libtpu_releases.html && python3 train_jax.py --epochs {{epochs|word}} --batch {{global_batch|word}} --checkpoints checkpoints"
# With TensorFlow instead: tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver("local")).
{{/tpu}}
{{^tpu}}
# What the machine fetches when it starts.
{{#training}}
! grep -q "Put your model, your data" train.py || { echo "Put your model into train.py before a machine is paid for." >&2; exit 1; }
[ -e data ] || { echo "Put your examples in the folder data, beside these files." >&2; exit 1; }
{{/training}}
{{#serves_onnx}}
[ -e model.onnx ] || { echo "model.onnx, your network, is missing beside these files." >&2; exit 1; }
{{/serves_onnx}}
{{#serves_llama_cpp}}
[ -e model.gguf ] || { echo "model.gguf, the weights, is missing beside these files." >&2; exit 1; }
{{/serves_llama_cpp}}
{{#serves_vllm}}
{{#own_weights}}
{{>own-weights}}
printf 'export MODEL=%q\n' "$MODEL" >model.sh
{{/own_weights}}
{{/serves_vllm}}
for part in model.sh run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf data; do
  [ ! -e "$part" ] || gcloud storage cp -r "$part" "$BUCKET/job/"
done

for number in $(seq 1 {{nodes|word}}); do
  gcloud compute instances create {{job|name}}-"$number" --project="$PROJECT" --zone="$ZONE" \
    --machine-type={{instance|word}}{{#attached}} --accelerator="type={{gcp_accelerator|word}},count={{per_node|word}}"{{/attached}} \
    --image-family={{gcp_image_family|word}} --image-project={{gcp_image_project|word}} \
    --boot-disk-size={{disk_gb|word}}GB --maintenance-policy=TERMINATE{{#spot}} --provisioning-model=SPOT{{/spot}} \
{{^serving}}
    --max-run-duration={{run_seconds|word}}s --instance-termination-action=DELETE \
{{/serving}}
    --scopes=storage-rw --metadata=bucket="$BUCKET",number="$number"{{#gated}},hf-token="$HF_TOKEN"{{/gated}} --metadata-from-file=startup-script=startup-gcloud.sh
done
{{#serving}}
echo "Ask it through a tunnel: gcloud compute ssh {{job|name}}-1 --zone $ZONE -- -L {{port|word}}:localhost:{{port|word}}"
{{/serving}}
{{/tpu}}
