output "address" {
  description = "DNS name of the load balancer: point the customers' name at it."
  value       = aws_lb.main.dns_name
}

output "zone_id" {
  description = "Hosted zone of that name, for an alias record."
  value       = aws_lb.main.zone_id
}

output "resource_managers" {
  description = "Addresses that executors list."
  value       = local.manager_addresses
}

output "migrate" {
  description = "What `aws ecs run-task` needs to run `berth migrate`."
  value = {
    cluster         = aws_ecs_cluster.main.name
    task_definition = module.service["migrate"].task_definition_arn
    subnets         = values(aws_subnet.core)[*].id
    security_group  = aws_security_group.part["migrate"].id
  }
}

output "database_address" {
  description = "Host of the database."
  value       = aws_db_instance.main.address
}

output "secret_arns" {
  description = "ARNs of the secrets, by name."
  value       = { for name, secret in aws_secretsmanager_secret.main : name => secret.arn }
}

output "kms_key_arn" {
  description = "The key of all data."
  value       = aws_kms_key.main.arn
}

output "facts" {
  description = "What the tests of an environment compare with."
  value = {
    zones    = length(local.zones)
    nats     = length(aws_nat_gateway.main)
    internal = aws_lb.main.internal
    database = {
      multi_az            = aws_db_instance.main.multi_az
      public              = aws_db_instance.main.publicly_accessible
      encrypted           = aws_db_instance.main.storage_encrypted
      backup_days         = aws_db_instance.main.backup_retention_period
      deletion_protection = aws_db_instance.main.deletion_protection
      max_connections     = var.database.max_connections
    }
    broker = { mode = local.broker_template.Resources.Broker.Properties.DeploymentMode }
    redis  = { multi_az = aws_elasticache_replication_group.main.multi_az_enabled }
    tasks  = { for role, one in local.roles : role => one.count }
    # At most: docs/database.md has what each process opens.
    connections          = var.api.max * 22 + var.scheduler.count * 13 + var.resource_manager.count * 8 + var.notifier.count * 3
    pools                = { for name, pool in module.executors : name => { metadata_options = pool.metadata_options, wanted = var.pools[name].wanted } }
    alarms_without_topic = length([for alarm in concat(values(aws_cloudwatch_metric_alarm.main), [aws_cloudwatch_metric_alarm.bus_memory]) : alarm if length(alarm.alarm_actions) == 0])
  }
}
