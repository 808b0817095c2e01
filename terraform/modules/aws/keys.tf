data "aws_region" "here" {}
data "aws_caller_identity" "me" {}
data "aws_partition" "here" {}

# One key for all that this module stores: database, broker, Redis, secrets, logs, disks.
resource "aws_kms_key" "main" {
  description             = "All data of ${var.name}"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy                  = jsonencode({ Version = "2012-10-17", Statement = local.key_policy })
}

resource "aws_kms_alias" "main" {
  name          = "alias/${var.name}"
  target_key_id = aws_kms_key.main.key_id
}

locals {
  region    = data.aws_region.here.name
  account   = data.aws_caller_identity.me.account_id
  partition = data.aws_partition.here.partition

  key_use = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
  key_policy = [
    {
      Sid       = "RightsByIam"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${local.account}:root" }
      Action    = "kms:*"
      Resource  = "*"
    },
    {
      Sid       = "Logs"
      Effect    = "Allow"
      Principal = { Service = "logs.${local.region}.amazonaws.com" }
      Action    = local.key_use
      Resource  = "*"
      Condition = { ArnLike = { "kms:EncryptionContext:aws:logs:arn" = "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:/${var.name}/*" } }
    },
    {
      # Disks of executors, which an autoscaling group starts.
      Sid       = "Executors"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${local.account}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling" }
      Action    = local.key_use
      Resource  = "*"
    },
    {
      Sid       = "ExecutorsGrant"
      Effect    = "Allow"
      Principal = { AWS = "arn:${local.partition}:iam::${local.account}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling" }
      Action    = "kms:CreateGrant"
      Resource  = "*"
      Condition = { Bool = { "kms:GrantIsForAWSResource" = "true" } }
    },
  ]
}
