#!/usr/bin/env bash
{{>head}}
# Stop it: aws ec2 terminate-instances --region {{region|comment}} --instance-ids $(aws ec2 describe-instances --region {{region|comment}} --filters Name=tag:Name,Values={{job|name}} Name=instance-state-name,Values=pending,running --query "Reservations[].Instances[].InstanceId" --output text)
set -euo pipefail

# Yours to fill in.
: "${BUCKET:?an S3 bucket for weights and checkpoints, as s3://name}"
: "${PROFILE_NAME:?an instance profile that may read and write the bucket, with the policy AmazonSSMManagedInstanceCore to reach the machine}"
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
EMAIL=${EMAIL:-}
export AWS_DEFAULT_REGION={{region|word}}

# An alarm before the money is gone.
if [ -n "$EMAIL" ]; then
  account=$(aws sts get-caller-identity --query Account --output text)
  aws budgets create-budget --account-id "$account" \
    --budget '{"BudgetName": "{{job|name}}", "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": "{{budget_usd|word}}", "Unit": "USD"}}' \
    --notifications-with-subscribers '[{"Notification": {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "Threshold": 80}, "Subscribers": [{"SubscriptionType": "EMAIL", "Address": "'"$EMAIL"'"}]}]' || echo "No new alarm: is there one of this name already?" >&2
else
  echo "No alarm: EMAIL is not set." >&2
fi

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
for part in model.sh run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf; do
  [ ! -e "$part" ] || aws s3 cp "$part" "$BUCKET/job/"
done
[ ! -e data ] || aws s3 sync data "$BUCKET/job/data"

{{#several_nodes}}
# The address of an earlier run leads nowhere.
aws s3 rm "$BUCKET/leader"
{{/several_nodes}}
startup=$(mktemp)
sed "s|@BUCKET@|$BUCKET|g{{#gated}};s|@HF_TOKEN@|$HF_TOKEN|g{{/gated}}" startup-aws.sh >"$startup"

ids=$(aws ec2 run-instances --count {{nodes|word}} --instance-type {{instance|word}} \
  --image-id "resolve:ssm:{{aws_image_parameter|word}}" \
  --instance-initiated-shutdown-behavior terminate --iam-instance-profile "Name=$PROFILE_NAME" \
  --block-device-mappings 'DeviceName=/dev/sda1,Ebs={VolumeSize={{disk_gb|word}},VolumeType=gp3}'{{#spot}} \
  --instance-market-options MarketType=spot{{/spot}} \
  --tag-specifications 'ResourceType=instance,Tags=[{Key=Name,Value={{job|name}}}]' --user-data "file://$startup" --query "Instances[].InstanceId" --output text)

# The machine lets nobody in from outside; the Systems Manager leads to it (with its plugin for the aws command).
for id in $ids; do
  echo "Look into it: aws ssm start-session --region {{region|word}} --target $id"
{{#serving}}
  echo "Ask it through a tunnel: aws ssm start-session --region {{region|word}} --target $id --document-name AWS-StartPortForwardingSession --parameters portNumber={{port|word}},localPortNumber={{port|word}}"
{{/serving}}
done
