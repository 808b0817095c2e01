# What a production must be, whatever the defaults of the module become.

mock_provider "aws" {
  source = "../../modules/aws/tests/mock"
}

variables {
  region           = "eu-central-1"
  image            = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/berth@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  certificate_arn  = "arn:aws:acm:eu-central-1:123456789012:certificate/0"
  executor_ami_id  = "ami-1"
  alarm_topic_arns = ["arn:aws:sns:eu-central-1:123456789012:berth"]
  passwords = {
    owner            = "passwordpasswordpasswordpassword01"
    api              = "passwordpasswordpasswordpassword02"
    submit           = "passwordpasswordpasswordpassword03"
    admin            = "passwordpasswordpasswordpassword04"
    scheduler        = "passwordpasswordpasswordpassword05"
    resource_manager = "passwordpasswordpasswordpassword06"
    bus              = "passwordpasswordpasswordpassword07"
    redis            = "passwordpasswordpasswordpassword08"
    key_hash_secret  = "passwordpasswordpasswordpassword09"
    executor_secret  = "passwordpasswordpasswordpassword10"
    jwt_key          = "passwordpasswordpasswordpassword11"
    notifier         = "passwordpasswordpasswordpassword12"
  }
}

run "production" {
  command = apply

  assert {
    condition     = module.berth.facts.database.multi_az && module.berth.facts.database.backup_days >= 14 && module.berth.facts.database.deletion_protection
    error_message = "the database of a production survives a zone and a mistake"
  }
  assert {
    condition     = module.berth.facts.broker.mode == "CLUSTER_MULTI_AZ" && module.berth.facts.redis.multi_az
    error_message = "broker and Redis of a production survive a zone"
  }
  assert {
    condition     = module.berth.facts.zones == 3 && module.berth.facts.nats == 3
    error_message = "a production uses three zones, each with its NAT"
  }
  assert {
    condition     = alltrue([for role in ["api", "scheduler", "notifier"] : module.berth.facts.tasks[role] >= 2]) && length(module.berth.resource_managers) >= 2
    error_message = "each role of a production has at least two tasks"
  }
  assert {
    condition     = alltrue([for pool in values(module.berth.facts.pools) : pool.metadata_options.http_tokens == "required" && pool.wanted >= 2])
    error_message = "executors of a production"
  }
  assert {
    condition     = module.berth.facts.alarms_without_topic == 0
    error_message = "an alarm that nobody gets"
  }
  # The roles' pools of connections fit the database, with a third left (docs/database.md).
  assert {
    condition     = module.berth.facts.connections <= module.berth.facts.database.max_connections * 2 / 3
    error_message = "the database has too few connections"
  }
}
