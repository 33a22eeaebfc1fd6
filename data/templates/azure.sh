#!/usr/bin/env bash
{{>head}}
# Start it: bash launch-azure.sh
# Stop it: bash launch-azure.sh stop; with "clean" in place of "stop", its files and checkpoints in the storage account are deleted too.
set -euo pipefail

# Yours to fill in.
: "${STORAGE_ACCOUNT:?a storage account for data, weights and checkpoints, in another resource group than the job}"
# Started again under this name, the job goes on from its last checkpoint; under another it begins anew.
JOB=${JOB:-{{job|name}}}
REGION=${REGION:-{{region|word}}}
EMAIL=${EMAIL:-}

# All that the job has is in its resource group, but for what it keeps in the storage account, in a container of its name.
stop_machines() { [ "$(az group exists --name "$JOB")" = false ] || az group delete --name "$JOB" --yes; }
case ${1:-start} in
  start) ;;
  stop) stop_machines; exit ;;
  clean)
    stop_machines
    az storage container delete --account-name "$STORAGE_ACCOUNT" --auth-mode login --name "$JOB"
    exit ;;
  *) echo "start, stop or clean?" >&2; exit 2 ;;
esac
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
[ "$(az group exists --name "$JOB")" = false ] || { echo "Machines of $JOB are there already: stop them first, or choose another JOB." >&2; exit 1; }
{{>checked}}

# What the machines may do, before they start: read and write what is this job's, and give themselves back.
storage=$(az storage account show --name "$STORAGE_ACCOUNT" --query id --output tsv)
az group create --name "$JOB" --location "$REGION"
# What was begun and not ended is not paid for.
trap 'az group delete --name "$JOB" --yes --no-wait' ERR
az identity create --resource-group "$JOB" --name "$JOB"
principal=$(az identity show --resource-group "$JOB" --name "$JOB" --query principalId --output tsv)
identity=$(az identity show --resource-group "$JOB" --name "$JOB" --query id --output tsv)
group=$(az group show --name "$JOB" --query id --output tsv)
me=$(az ad signed-in-user show --query id --output tsv)
az role assignment create --role "Storage Blob Data Contributor" --scope "$storage" --assignee-object-id "$me" --assignee-principal-type User
az role assignment create --role "Storage Blob Data Contributor" --scope "$storage/blobServices/default/containers/$JOB" \
  --assignee-object-id "$principal" --assignee-principal-type ServicePrincipal
az role assignment create --role "Virtual Machine Contributor" --scope "$group" --assignee-object-id "$principal" --assignee-principal-type ServicePrincipal

# An alarm before the money is gone.
if [ -n "$EMAIL" ]; then
  az consumption budget create-with-rg --budget-name "$JOB" --resource-group "$JOB" --amount {{budget|word}} \
    --category Cost --time-grain Monthly --time-period start-date="$(date +%Y-%m-01)" end-date="$(($(date +%Y) + 1))-$(date +%m-01)" \
    --notifications '{"near": {"enabled": true, "operator": "GreaterThan", "threshold": 80, "contact-emails": ["'"$EMAIL"'"]}}' ||
    echo "No alarm was set." >&2
else
  echo "No alarm: EMAIL is not set." >&2
fi

# What the machine fetches when it starts. A right that was just given may take minutes to be known.
blobs() { az storage blob "$@" --account-name "$STORAGE_ACCOUNT" --auth-mode login; }
made=
for _ in $(seq 30); do
  az storage container create --account-name "$STORAGE_ACCOUNT" --auth-mode login --name "$JOB" && made=yes && break
  sleep 10
done
[ -n "$made" ] || { echo "You may not write to the storage account $STORAGE_ACCOUNT." >&2; false; }
for part in model.sh run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf; do
  [ ! -e "$part" ] || blobs upload -c "$JOB" -f "$part" -n "job/$part" --overwrite
done
if [ -e data ]; then
  blobs delete-batch --source "$JOB" --pattern "job/data/*"
  blobs upload-batch -d "$JOB" -s data --destination-path job/data --overwrite
fi
startup=$(mktemp)
sed "s|@STORAGE_ACCOUNT@|$STORAGE_ACCOUNT|g;s|@JOB@|$JOB|g{{#gated}};s|@HF_TOKEN@|$HF_TOKEN|g{{/gated}}" startup-azure.sh >"$startup"

{{#linked}}
{{^spot}}
# Machines of one availability set stand on one InfiniBand, where the size has it: that of sizes with an r behind their number.
az vm availability-set create --resource-group "$JOB" --name "$JOB" --platform-fault-domain-count 1 --platform-update-domain-count 1
together=(--availability-set "$JOB")
{{/spot}}
{{#spot}}
# What can be taken back is in no availability set, and so on no InfiniBand that reaches another machine: over Ethernet,
# exchanging gradients takes longer than estimated.
az ppg create --resource-group "$JOB" --name "$JOB" --type Standard
together=(--ppg "$JOB")
{{/spot}}
{{/linked}}
for number in $(seq {{nodes|word}}); do
  az vm create --resource-group "$JOB" --name "$JOB-$number" --size {{instance|word}} --image {{azure_image|word}}{{#linked}} "${together[@]}"{{/linked}} \
    --assign-identity "$identity" --os-disk-size-gb {{disk_gb|word}} --generate-ssh-keys --custom-data "$startup" \
    --os-disk-delete-option Delete --nic-delete-option Delete{{#spot}} --priority Spot --eviction-policy Delete --max-price -1{{/spot}}
done
trap - ERR
rm "$startup"
address=$(az vm show --resource-group "$JOB" --name "$JOB-1" --show-details --query publicIps --output tsv)
echo "Look into it: ssh $address tail -f /job/log.txt"
{{#serving}}
echo "Ask it through a tunnel: ssh -L {{port|word}}:localhost:{{port|word}} $address"
{{/serving}}
{{^serving}}
echo "When the job has ended: bash launch-azure.sh stop removes the disk and the address, which are paid for."
{{/serving}}
{{#training}}
echo "What it learnt: folder checkpoints{{#trains_network}}, and once it has ended, for use, checkpoints/result,{{/trains_network}} of the container $JOB in $STORAGE_ACCOUNT"
{{/training}}
