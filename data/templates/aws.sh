#!/usr/bin/env bash
{{>head}}
# Start it: bash launch-aws.sh
# Stop it: bash launch-aws.sh stop; with "clean" in place of "stop", its files and checkpoints in the bucket are deleted too.
set -euo pipefail

# Yours to fill in.
: "${BUCKET:?an S3 bucket for data, weights and checkpoints, as s3://name; it is made where there is none}"
# Started again under this name, the job goes on from its last checkpoint; under another it begins anew.
JOB=${JOB:-{{job|name}}}
export AWS_DEFAULT_REGION=${REGION:-{{region|word}}}
# An instance profile that may use the bucket, with the policy AmazonSSMManagedInstanceCore; one is made where none is said.
PROFILE_NAME=${PROFILE_NAME:-}
EMAIL=${EMAIL:-}
STORE=$BUCKET/$JOB

machines() {
  aws ec2 describe-instances --filters "Name=tag:job,Values=$JOB" Name=instance-state-name,Values=pending,running,stopping,stopped \
    --query "Reservations[].Instances[].InstanceId" --output text
}
stop_machines() {
  local list
  read -ra list <<<"$(machines)"
  if [ ${#list[@]} -gt 0 ]; then
    aws ec2 terminate-instances --instance-ids "${list[@]}" >/dev/null
    aws ec2 wait instance-terminated --instance-ids "${list[@]}"
  fi
{{#linked}}
  # What they shared.
  local address
  for address in $(aws ec2 describe-addresses --filters "Name=tag:job,Values=$JOB" --query "Addresses[].AllocationId" --output text); do
    aws ec2 release-address --allocation-id "$address"
  done
  for group in $(aws ec2 describe-security-groups --filters "Name=tag:job,Values=$JOB" --query "SecurityGroups[].GroupId" --output text); do
    aws ec2 delete-security-group --group-id "$group"
  done
  aws ec2 delete-placement-group --group-name "$JOB" 2>/dev/null || true
{{/linked}}
}
case ${1:-start} in
  start) ;;
  stop) stop_machines; exit ;;
  clean)
    stop_machines
{{#gated}}
    aws ssm delete-parameter --name "/$JOB/hf-token" || true
{{/gated}}
    aws s3 rm --recursive "$STORE"
    if aws iam get-instance-profile --instance-profile-name "$JOB" >/dev/null 2>&1; then
      aws iam remove-role-from-instance-profile --instance-profile-name "$JOB" --role-name "$JOB"
      aws iam delete-instance-profile --instance-profile-name "$JOB"
      aws iam delete-role-policy --role-name "$JOB" --policy-name bucket
      aws iam detach-role-policy --role-name "$JOB" --policy-arn arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore
      aws iam delete-role --role-name "$JOB"
    fi
    exit ;;
  *) echo "start, stop or clean?" >&2; exit 2 ;;
esac
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
[ -z "$(machines)" ] || { echo "Machines of $JOB are there already: stop them first, or choose another JOB." >&2; exit 1; }
{{>checked}}

# An alarm before the money is gone.
if [ -n "$EMAIL" ]; then
  account=$(aws sts get-caller-identity --query Account --output text)
  aws budgets create-budget --account-id "$account" \
    --budget '{"BudgetName": "'"$JOB"'", "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": "{{budget_usd|word}}", "Unit": "USD"}}' \
    --notifications-with-subscribers '[{"Notification": {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "Threshold": 80}, "Subscribers": [{"SubscriptionType": "EMAIL", "Address": "'"$EMAIL"'"}]}]' || echo "No new alarm: is there one of this name already?" >&2
else
  echo "No alarm: EMAIL is not set." >&2
fi

# In the region of the machines: what goes to another is paid for.
bucket=${BUCKET#s3://}
aws s3api head-bucket --bucket "$bucket" >/dev/null 2>&1 || aws s3 mb "$BUCKET"

# What the machine may do, before it starts: read and write what is this job's, and be looked into.
if [ -z "$PROFILE_NAME" ]; then
  PROFILE_NAME=$JOB
  if ! aws iam get-instance-profile --instance-profile-name "$JOB" >/dev/null 2>&1; then
    aws iam create-role --role-name "$JOB" --assume-role-policy-document '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}' >/dev/null
    aws iam attach-role-policy --role-name "$JOB" --policy-arn arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore
    aws iam put-role-policy --role-name "$JOB" --policy-name bucket --policy-document '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::'"$bucket"'"}, {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], "Resource": "arn:aws:s3:::'"$bucket/$JOB"'/*"}]}'
    aws iam create-instance-profile --instance-profile-name "$JOB" >/dev/null
    aws iam add-role-to-instance-profile --instance-profile-name "$JOB" --role-name "$JOB"
    aws iam wait instance-profile-exists --instance-profile-name "$JOB"
    # Known to all of AWS a moment later.
    sleep "${PATIENCE:-20}"
  fi
fi
{{#gated}}
# The token is kept, encrypted, apart from what others can read of a machine.
aws ssm put-parameter --name "/$JOB/hf-token" --type SecureString --overwrite --value "$HF_TOKEN" >/dev/null
{{/gated}}

# What the machine fetches when it starts.
for part in model.sh run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf; do
  [ ! -e "$part" ] || aws s3 cp "$part" "$STORE/job/"
done
[ ! -e data ] || aws s3 sync --delete data "$STORE/job/data"
startup=$(mktemp)
sed "s|@STORE@|$STORE|g;s|@JOB@|$JOB|g;s|@REGION@|$AWS_DEFAULT_REGION|g" startup-aws.sh >"$startup"

{{#linked}}
# Machines that talk to each other stand close together, in one subnet, and let each other in; the address of an earlier
# run leads nowhere.
stop_machines
aws s3 rm "$STORE/leader"
zones=$(aws ec2 describe-instance-type-offerings --location-type availability-zone --filters Name=instance-type,Values={{instance|word}} \
  --query "InstanceTypeOfferings[].Location" --output text)
SUBNET=${SUBNET:-$(aws ec2 describe-subnets --filters Name=default-for-az,Values=true "Name=availability-zone,Values=${zones//[[:space:]]/,}" \
  --query "Subnets[0].SubnetId" --output text)}
network=$(aws ec2 describe-subnets --subnet-ids "$SUBNET" --query "Subnets[0].VpcId" --output text)
group=$(aws ec2 create-security-group --group-name "$JOB" --description "machines of one job" --vpc-id "$network" \
  --tag-specifications "ResourceType=security-group,Tags=[{Key=job,Value=$JOB}]" --query GroupId --output text)
aws ec2 authorize-security-group-ingress --group-id "$group" --protocol=-1 --source-group "$group" >/dev/null
aws ec2 authorize-security-group-egress --group-id "$group" --ip-permissions "IpProtocol=-1,UserIdGroupPairs=[{GroupId=$group}]" >/dev/null
aws ec2 create-placement-group --group-name "$JOB" --strategy cluster >/dev/null
# An Elastic Fabric Adapter on each network card that takes one.
read -r cards adapters <<<"$(aws ec2 describe-instance-types --instance-types {{instance|word}} \
  --query "InstanceTypes[0].NetworkInfo.[length(NetworkCards), EfaInfo.MaximumEfaInterfaces]" --output text)"
[ "$adapters" != None ] || { adapters=0; cards=1; }
interfaces=()
for ((card = 0; card < cards; card++)); do
  kind=efa
  [ "$card" -ge $((cards - adapters)) ] || kind=interface
  interfaces+=("NetworkCardIndex=$card,DeviceIndex=$((card > 0)),SubnetId=$SUBNET,Groups=$group,InterfaceType=$kind$([ "$cards" -gt 1 ] || echo ,AssociatePublicIpAddress=true)")
done

{{/linked}}
ids=$(aws ec2 run-instances --count {{nodes|word}} --instance-type {{instance|word}} \
  --image-id "resolve:ssm:{{aws_image_parameter|word}}" \
  --instance-initiated-shutdown-behavior terminate --iam-instance-profile "Name=$PROFILE_NAME" --metadata-options HttpTokens=required \
  --block-device-mappings 'DeviceName=/dev/sda1,Ebs={VolumeSize={{disk_gb|word}},VolumeType=gp3}'{{#spot}} \
  --instance-market-options MarketType=spot{{/spot}}{{#linked}} \
  --placement "GroupName=$JOB" --network-interfaces "${interfaces[@]}"{{/linked}} \
  --tag-specifications "ResourceType=instance,Tags=[{Key=Name,Value=$JOB},{Key=job,Value=$JOB}]" "ResourceType=volume,Tags=[{Key=job,Value=$JOB}]" \
  --user-data "file://$startup" --query "Instances[].InstanceId" --output text)
{{#linked}}
# A machine of several interfaces is given no public address by itself, without which it reaches nothing.
trap 'stop_machines' ERR
if [ "$cards" -gt 1 ]; then
  for id in $ids; do
    aws ec2 wait instance-running --instance-ids "$id"
    interface=$(aws ec2 describe-network-interfaces --filters "Name=attachment.instance-id,Values=$id" Name=attachment.device-index,Values=0 \
      --query "NetworkInterfaces[0].NetworkInterfaceId" --output text)
    address=$(aws ec2 allocate-address --tag-specifications "ResourceType=elastic-ip,Tags=[{Key=job,Value=$JOB}]" --query AllocationId --output text)
    aws ec2 associate-address --allocation-id "$address" --network-interface-id "$interface" >/dev/null
  done
  echo "When the job has ended: bash launch-aws.sh stop gives their addresses back, which are paid for."
fi
{{/linked}}

# The machine lets nobody in from outside; the Systems Manager leads to it (with its plugin for the aws command).
for id in $ids; do
  echo "Look into it: aws ssm start-session --region $AWS_DEFAULT_REGION --target $id"
{{#serving}}
  echo "Ask it through a tunnel: aws ssm start-session --region $AWS_DEFAULT_REGION --target $id --document-name AWS-StartPortForwardingSession --parameters portNumber={{port|word}},localPortNumber={{port|word}}"
{{/serving}}
done
{{#training}}
echo "What it learnt: $STORE/checkpoints{{#trains_network}}; once it has ended, for use, $STORE/checkpoints/result{{/trains_network}}"
{{/training}}
