# The small one is as closed as the large one.

mock_provider "aws" {
  source = "../../modules/aws/tests/mock"
}

variables {
  region           = "eu-central-1"
  image            = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/berth:0.1.0"
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

run "development" {
  command = apply

  assert {
    condition     = module.berth.facts.internal && !module.berth.facts.database.public
    error_message = "a development is reachable from outside"
  }
  assert {
    condition     = module.berth.facts.database.encrypted && alltrue([for pool in values(module.berth.facts.pools) : pool.metadata_options.http_tokens == "required"])
    error_message = "a development is protected less"
  }
  assert {
    condition     = module.berth.facts.nats == 1 && module.berth.facts.broker.mode == "SINGLE_INSTANCE" && !module.berth.facts.database.deletion_protection
    error_message = "a development is small and can be deleted"
  }
}
