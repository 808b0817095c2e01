# Three zones: each engine has a copy in another one, each role at least two tasks.

provider "aws" {
  region = var.region
  default_tags {
    tags = { service = "berth", environment = "prod" }
  }
}

module "berth" {
  source = "../../modules/aws"

  name              = "berth-prod"
  image             = var.image
  certificate_arn   = var.certificate_arn
  alarm_topic_arns  = var.alarm_topic_arns
  access_log_bucket = var.access_log_bucket
  web_acl_arn       = var.web_acl_arn
  passwords         = var.passwords
  roles_running     = var.roles_running
  passwords_version = var.passwords_version
  cidr              = "10.40.0.0/16"
  zones             = ["${var.region}a", "${var.region}b", "${var.region}c"]

  database         = { instance_class = "db.m7g.xlarge", storage_gib = 400, max_storage_gib = 2000, multi_az = true, backup_days = 35, max_connections = 800 }
  broker           = { instance_type = "mq.m5.large", cluster = true }
  redis            = { node_type = "cache.m7g.large", nodes = 3 }
  api              = { cpu = 2048, memory = 4096, min = 3, max = 12 }
  scheduler        = { cpu = 2048, memory = 4096, count = 3 }
  resource_manager = { cpu = 2048, memory = 4096, count = 3 }
  notifier         = { cpu = 1024, memory = 2048, count = 3 }

  pools = {
    default = {
      ami_id         = var.executor_ami_id
      instance_type  = "m7i.xlarge"
      min            = 3
      wanted         = 6
      max            = 40
      disk_gib       = 200
      drivers        = ["command", "http", "noop"]
      drain_seconds  = 300
      internet_ports = [80, 443]
    }
  }
}

output "address" {
  value = module.berth.address
}

output "migrate" {
  value = module.berth.migrate
}
