terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "= 5.100.0"
    }
  }

  # Bucket, key, region and lock by `terraform init -backend-config=FILE`.
  backend "s3" {}
}
