# One of everything, small, and deleted without a trace. Its load balancer has private addresses.

provider "aws" {
  region = var.region
  default_tags {
    tags = { service = "berth", environment = "dev" }
  }
}

module "berth" {
  source = "../../modules/aws"

  name                = "berth-dev"
  image               = var.image
  certificate_arn     = var.certificate_arn
  alarm_topic_arns    = var.alarm_topic_arns
  passwords           = var.passwords
  roles_running       = var.roles_running
  cidr                = "10.41.0.0/16"
  zones               = ["${var.region}a", "${var.region}b"]
  single_nat          = true
  internal            = true
  allowed_cidrs       = ["10.0.0.0/8"]
  deletion_protection = false
  log_retention_days  = 365

  database         = { instance_class = "db.t4g.medium", storage_gib = 20, max_storage_gib = 100, multi_az = false, backup_days = 1, max_connections = 150 }
  broker           = { instance_type = "mq.t3.micro", cluster = false }
  redis            = { node_type = "cache.t4g.micro", nodes = 1 }
  api              = { cpu = 512, memory = 1024, min = 1, max = 2 }
  scheduler        = { cpu = 512, memory = 1024, count = 1 }
  resource_manager = { cpu = 512, memory = 1024, count = 1 }
  notifier         = { cpu = 256, memory = 512, count = 1 }
  # Hint queues as one node has them (docs/broker.md).
  settings = { BERTH_BUS__QUEUE_TYPE = "classic", BERTH_AUTH__ENVIRONMENT = "dev" }

  pools = {
    default = { ami_id = var.executor_ami_id, instance_type = "t3.medium", min = 0, wanted = 1, max = 2, disk_gib = 30, drivers = ["command", "http", "noop"], internet_ports = [443] }
  }
}

output "address" {
  value = module.berth.address
}

output "migrate" {
  value = module.berth.migrate
}
