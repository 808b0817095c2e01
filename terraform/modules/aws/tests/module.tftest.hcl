# Against a mock of AWS: what is asked for, not whether AWS accepts it.

mock_provider "aws" {
  source = "./tests/mock"
}

variables {
  name                   = "berth-test"
  zones                  = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
  image                  = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/berth:1.0.0"
  certificate_arn        = "arn:aws:acm:eu-central-1:123456789012:certificate/0"
  metrics_security_group = "sg-1"
  # As long and as different as they must be, and easy to find in a plan.
  passwords = {
    owner            = "0wnerNotInAnyStateXXXXXXXXXXXXXXX01"
    api              = "0wnerNotInAnyStateXXXXXXXXXXXXXXX02"
    submit           = "0wnerNotInAnyStateXXXXXXXXXXXXXXX03"
    admin            = "0wnerNotInAnyStateXXXXXXXXXXXXXXX04"
    scheduler        = "0wnerNotInAnyStateXXXXXXXXXXXXXXX05"
    resource_manager = "0wnerNotInAnyStateXXXXXXXXXXXXXXX06"
    bus              = "0wnerNotInAnyStateXXXXXXXXXXXXXXX07"
    redis            = "0wnerNotInAnyStateXXXXXXXXXXXXXXX08"
    key_hash_secret  = "0wnerNotInAnyStateXXXXXXXXXXXXXXX09"
    executor_secret  = "0wnerNotInAnyStateXXXXXXXXXXXXXXX10"
    jwt_key          = "0wnerNotInAnyStateXXXXXXXXXXXXXXX11"
    notifier         = "0wnerNotInAnyStateXXXXXXXXXXXXXXX12"
  }
  pools = {
    web      = { ami_id = "ami-1", internet_ports = [443] }
    commands = { ami_id = "ami-2", drivers = ["command"], wanted = 4, max = 8 }
    elastic  = { ami_id = "ami-3", scaling_metric = { namespace = "Berth", name = "QueuedSlots", dimensions = { pool = "elastic" }, target = 10 } }
  }
  more_roles = {
    gateway = { arguments = ["gateway"], reaches = ["postgres"], secrets = { api-url = "BERTH_DATABASE__API_URL" } }
  }
}

run "defaults" {
  command = apply

  # Nothing is public but the load balancer.
  assert {
    condition     = !aws_db_instance.main.publicly_accessible && !local.broker_template.Resources.Broker.Properties.PubliclyAccessible
    error_message = "database or broker is public"
  }
  assert {
    condition     = alltrue([for subnet in values(aws_subnet.public) : !subnet.map_public_ip_on_launch]) && alltrue([for group in module.executors : group.public_address == "false"])
    error_message = "machines get public addresses"
  }
  assert {
    condition     = alltrue([for rule in values(aws_vpc_security_group_ingress_rule.public) : rule.security_group_id == aws_security_group.part["lb"].id])
    error_message = "a rule with foreign addresses belongs to another group than the load balancer's"
  }
  assert {
    condition     = alltrue([for rule in values(aws_vpc_security_group_ingress_rule.way) : rule.cidr_ipv4 == null && rule.referenced_security_group_id != null])
    error_message = "a way between parts is open to addresses"
  }
  assert {
    condition     = length(aws_default_security_group.closed.ingress) == 0 && length(aws_default_security_group.closed.egress) == 0
    error_message = "the default group is open"
  }
  assert {
    condition     = aws_route.public.route_table_id == aws_route_table.public.id && alltrue([for one in concat(values(aws_route_table_association.core), values(aws_route_table_association.data)) : one.route_table_id == aws_route_table.inner.id])
    error_message = "roles or engines have a route to the internet"
  }
  assert {
    condition     = alltrue([for role, service in module.service : toset(service.subnet_ids) == toset(values(role == "notifier" ? aws_subnet.notifiers : aws_subnet.core)[*].id)])
    error_message = "a role is where there is a route to the internet, or the notifier where there is none"
  }
  assert {
    condition     = alltrue([for zone, one in aws_route_table_association.notifiers : one.route_table_id == aws_route_table.notifiers[zone].id && one.subnet_id == aws_subnet.notifiers[zone].id && aws_route.notifiers[zone].route_table_id == one.route_table_id && aws_route.notifiers[zone].nat_gateway_id == aws_nat_gateway.main[zone].id])
    error_message = "notifiers have no way to the internet, or not by the NAT of their zone"
  }
  assert {
    condition     = [for rule in values(aws_vpc_security_group_egress_rule.receivers) : "${rule.security_group_id} ${rule.cidr_ipv4} ${rule.from_port}-${rule.to_port}"] == ["${aws_security_group.part["notifier"].id} 0.0.0.0/0 0-65535"]
    error_message = "the notifier does not reach receivers, or another role does"
  }
  assert {
    condition     = length(setsubtract(values(aws_route_table.notifiers)[*].id, aws_vpc_endpoint.s3.route_table_ids)) == 0
    error_message = "layers of the notifier's image are pulled through the NAT gateway"
  }
  assert {
    condition = toset([for way in values(local.ways) : join(">", way)]) == toset([
      "lb>api", "api>postgres", "api>bus", "api>redis", "api>endpoints", "scheduler>postgres", "scheduler>bus", "scheduler>endpoints",
      "resource-manager>postgres", "resource-manager>bus", "resource-manager>endpoints", "notifier>postgres", "notifier>endpoints", "migrate>postgres", "migrate>endpoints",
      "gateway>postgres", "gateway>endpoints",
    ])
    error_message = "the ways between the parts changed: review them and change this list"
  }

  # Encryption, at rest and on the way.
  assert {
    condition     = aws_db_instance.main.storage_encrypted && aws_db_instance.main.kms_key_id == aws_kms_key.main.arn && aws_kms_key.main.enable_key_rotation
    error_message = "the database is not encrypted with the key"
  }
  assert {
    condition     = anytrue([for one in aws_db_parameter_group.main.parameter : one.name == "rds.force_ssl" && one.value == "1"])
    error_message = "the database accepts connections without TLS"
  }
  assert {
    condition     = aws_elasticache_replication_group.main.transit_encryption_enabled && aws_elasticache_replication_group.main.transit_encryption_mode == "required" && tobool(aws_elasticache_replication_group.main.at_rest_encryption_enabled)
    error_message = "Redis is not encrypted"
  }
  assert {
    condition     = length(aws_elasticache_replication_group.main.user_group_ids) == 1 && startswith(local.redis_template.Resources.Default.Properties.AccessString, "off ") && local.redis_template.Resources.Berth.Properties.AuthenticationMode.Type == "password"
    error_message = "Redis lets in clients without a password"
  }
  assert {
    condition     = startswith(local.redis_template.Resources.Berth.Properties.AccessString, "on ~{berth}:* -@all ")
    error_message = "Berth's user of Redis may do more than it needs (docs/limits.md), or cannot reach its keys"
  }
  assert {
    condition     = local.broker_template.Resources.Broker.Properties.EncryptionOptions.KmsKeyId == aws_kms_key.main.arn
    error_message = "the broker is not encrypted with the key"
  }
  assert {
    condition     = alltrue([for group in values(aws_cloudwatch_log_group.main) : group.kms_key_id == aws_kms_key.main.arn && group.retention_in_days >= 365])
    error_message = "a log group has no key, or keeps too little"
  }
  assert {
    condition     = aws_lb_listener.https.protocol == "HTTPS" && strcontains(aws_lb_listener.https.ssl_policy, "TLS13") && aws_lb_listener.http.default_action[0].type == "redirect"
    error_message = "the load balancer serves plain HTTP"
  }
  assert {
    condition     = alltrue([for group in module.executors : tobool(group.disk.encrypted)])
    error_message = "disks of executors are not encrypted"
  }

  # Survival.
  assert {
    condition     = aws_db_instance.main.multi_az && aws_db_instance.main.backup_retention_period >= 7 && aws_db_instance.main.deletion_protection && !aws_db_instance.main.skip_final_snapshot
    error_message = "the database can be lost"
  }
  assert {
    condition     = local.broker_template.Resources.Broker.Properties.DeploymentMode == "CLUSTER_MULTI_AZ" && length(local.broker_template.Resources.Broker.Properties.SubnetIds) == 3
    error_message = "the broker is in one zone"
  }
  assert {
    condition     = aws_elasticache_replication_group.main.multi_az_enabled && aws_elasticache_replication_group.main.automatic_failover_enabled
    error_message = "Redis is in one zone"
  }

  # Secrets: references only, and each role its own.
  assert {
    condition     = aws_db_instance.main.password == null && alltrue([for one in concat(values(aws_secretsmanager_secret_version.main), [aws_secretsmanager_secret_version.passwords]) : one.secret_string == null])
    error_message = "a secret is in the state"
  }
  assert {
    condition     = !strcontains(join("", [aws_cloudformation_stack.broker.template_body, aws_cloudformation_stack.redis_users.template_body, jsonencode([for service in module.service : service.container]), join("", [for group in module.executors : group.start])]), "NotInAnyState")
    error_message = "a template, a task definition or a start script holds a secret"
  }
  assert {
    condition     = strcontains(aws_cloudformation_stack.broker.template_body, "{{resolve:secretsmanager:${aws_secretsmanager_secret.passwords.arn}:SecretString:bus::${aws_secretsmanager_secret_version.passwords.version_id}}}")
    error_message = "the broker's password is no reference"
  }
  assert {
    condition = { for role, service in module.service : role => join(" ", sort([for one in service.container.secrets : one.name])) } == {
      api                = "BERTH_AUTH__JWT_KEY BERTH_AUTH__KEY_HASH_SECRET BERTH_BUS__URL BERTH_DATABASE__ADMIN_URL BERTH_DATABASE__API_URL BERTH_DATABASE__SUBMIT_URL BERTH_REDIS__URL"
      scheduler          = "BERTH_BUS__URL BERTH_DATABASE__SCHEDULER_URL"
      resource-manager-0 = "BERTH_AUTH__EXECUTOR_SECRET BERTH_BUS__URL BERTH_DATABASE__RM_URL"
      resource-manager-1 = "BERTH_AUTH__EXECUTOR_SECRET BERTH_BUS__URL BERTH_DATABASE__RM_URL"
      notifier           = "BERTH_DATABASE__NOTIFIER_URL"
      migrate            = "BERTH_DATABASE__ADMIN_URL BERTH_DATABASE__API_URL BERTH_DATABASE__NOTIFIER_URL BERTH_DATABASE__RM_URL BERTH_DATABASE__SCHEDULER_URL BERTH_DATABASE__SUBMIT_URL BERTH_DATABASE__URL"
      gateway            = "BERTH_DATABASE__API_URL"
    }
    error_message = "a role has other secrets than it needs"
  }
  assert {
    condition     = alltrue([for service in module.service : toset([for one in service.container.secrets : one.valueFrom]) == toset(flatten([for statement in jsondecode(service.start_policy).Statement : statement.Resource if contains(statement.Action, "secretsmanager:GetSecretValue")]))])
    error_message = "a role may read other secrets than its own"
  }

  # Containers and machines.
  assert {
    condition     = alltrue([for service in module.service : service.container.readonlyRootFilesystem && service.container.user == "10001:10001" && service.container.linuxParameters.capabilities.drop == ["ALL"]])
    error_message = "a container may change itself or runs as root"
  }
  assert {
    condition     = alltrue([for role in ["api", "scheduler", "resource-manager-0", "resource-manager-1", "notifier"] : module.service[role].container.healthCheck != null])
    error_message = "a role has no health check"
  }
  assert {
    condition     = module.service["api"].container.stopTimeout > 35 && module.service["resource-manager-0"].container.stopTimeout > 30 && module.service["scheduler"].container.stopTimeout > 10 && module.service["notifier"].container.stopTimeout > 25
    error_message = "a role is killed before it has drained"
  }
  assert {
    condition     = module.service["migrate"].service_name == null
    error_message = "the migration runs as a service"
  }
  assert {
    condition     = alltrue([for group in module.executors : group.metadata_options.http_tokens == "required" && group.metadata_options.http_put_response_hop_limit == 1])
    error_message = "executors answer IMDSv1, or over more than one hop"
  }
  assert {
    condition     = alltrue([for group in module.executors : strcontains(group.start, "IPAddressDeny=169.254.169.254 fd00:ec2::254")])
    error_message = "tasks reach the metadata service"
  }
  assert {
    condition     = length(module.executors["commands"].internet_rules) == 0 && module.executors["web"].internet_rules == ["0.0.0.0/0"]
    error_message = "egress of executors is not what their pool allows"
  }
  assert {
    condition     = strcontains(module.executors["commands"].start, "BERTH_EXECUTOR__ISOLATION=bubblewrap") && strcontains(module.executors["web"].start, "BERTH_EXECUTOR__RESOURCE_MANAGERS=http://resource-manager-0.berth-test.internal:7070,http://resource-manager-1.berth-test.internal:7070")
    error_message = "settings of executors are wrong"
  }
  assert {
    condition     = module.executors["commands"].desired_capacity == 4 && module.executors["elastic"].desired_capacity == null
    error_message = "the size of a pool is not what was wanted"
  }
  assert {
    condition     = toset(flatten([for statement in jsondecode(module.executors["web"].rights).Statement : statement.Action])) == toset(["secretsmanager:GetSecretValue", "kms:Decrypt", "autoscaling:CompleteLifecycleAction"])
    error_message = "rights of executors changed"
  }

  assert {
    condition     = alltrue([for rule in values(aws_vpc_security_group_ingress_rule.metrics) : rule.referenced_security_group_id == "sg-1" && rule.from_port == 9090 && rule.to_port == 9090])
    error_message = "metrics are open to others, or on other ports"
  }

  # Alarms.
  assert {
    condition = length(setsubtract([
      "postgres-cpu", "postgres-connections", "postgres-storage", "bus-messages", "bus-consumers", "redis-memory-001", "redis-cpu-002",
      "api-5xx", "api-no-hosts", "errors", "api-tasks", "scheduler-tasks", "resource-manager-1-tasks", "notifier-tasks",
    ], keys(aws_cloudwatch_metric_alarm.main))) == 0
    error_message = "an alarm is missing"
  }
  assert {
    condition     = aws_cloudwatch_metric_alarm.main["postgres-storage"].comparison_operator == "LessThanThreshold" && aws_cloudwatch_metric_alarm.main["postgres-cpu"].comparison_operator == "GreaterThanThreshold"
    error_message = "an alarm compares the wrong way"
  }
}

run "before_the_migration" {
  command = plan
  variables { roles_running = false }

  assert {
    condition     = alltrue([for service in module.service : service.service_name == null]) && length(aws_appautoscaling_target.api) == 0
    error_message = "a role runs before there are tables"
  }
}

run "receivers_on_some_ports" {
  command = plan
  variables { notifier = { internet_ports = [443, 8443] } }

  assert {
    condition     = toset([for rule in values(aws_vpc_security_group_egress_rule.receivers) : "${rule.from_port}-${rule.to_port}"]) == toset(["443-443", "8443-8443"])
    error_message = "the notifier reaches other ports than those given"
  }
}

# A floating image, a secret in plain settings, a database without backups, a single zone, no port.
run "wrong_values_are_refused" {
  command = plan
  variables {
    image    = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/berth:latest"
    settings = { BERTH_BUS__URL = "amqp://a:b@c" }
    database = { backup_days = 0 }
    zones    = ["eu-central-1a"]
    notifier = { internet_ports = [0] }
  }
  expect_failures = [var.image, var.settings, var.database, var.zones, var.notifier]
}

run "equal_passwords_are_refused" {
  command = plan
  variables {
    passwords = {
      owner            = "passwordpasswordpasswordpassword01"
      api              = "passwordpasswordpasswordpassword01"
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
  expect_failures = [var.passwords]
}

run "short_passwords_are_refused" {
  command = plan
  variables {
    passwords = {
      owner            = "password01"
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
  expect_failures = [var.passwords]
}
