resource "aws_ecs_cluster" "main" {
  name = var.name

  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

locals {
  manager_names     = [for number in range(var.resource_manager.count) : "resource-manager-${number}"]
  manager_addresses = [for name in local.manager_names : "http://${name}.${aws_service_discovery_private_dns_namespace.main.name}:${local.port["resource-manager"]}"]
  health            = "0.0.0.0:9090"

  # `part` is the security group. `secrets` are names in secrets.tf: a role has no others.
  roles = merge(
    {
      api = {
        part      = "api", arguments = ["api"], count = var.api.min, cpu = var.api.cpu, memory = var.api.memory, stop = 60
        secrets   = ["api-url", "submit-url", "admin-url", "bus-url", "redis-url", "key-hash-secret", "jwt-key"]
        settings  = { BERTH_API__LISTEN = "0.0.0.0:8080", BERTH_API__METRICS_LISTEN = local.health, BERTH_API__TRUSTED_PROXIES = join(",", [for subnet in values(var.internal ? aws_subnet.core : aws_subnet.public) : subnet.cidr_block]) }
        probed    = true
        discovery = false
      }
      scheduler = {
        part      = "scheduler", arguments = ["scheduler"], count = var.scheduler.count, cpu = var.scheduler.cpu, memory = var.scheduler.memory, stop = 30
        secrets   = ["scheduler-url", "bus-url"]
        settings  = { BERTH_SCHEDULER__LISTEN = local.health }
        probed    = true
        discovery = false
      }
      notifier = {
        part      = "notifier", arguments = ["notifier"], count = var.notifier.count, cpu = var.notifier.cpu, memory = var.notifier.memory, stop = 45
        secrets   = ["notifier-url"]
        settings  = { BERTH_NOTIFIER__LISTEN = local.health }
        probed    = true
        discovery = false
      }
      migrate = {
        part      = "migrate", arguments = ["migrate"], count = 0, cpu = 256, memory = 512, stop = 120
        secrets   = ["owner-url", "api-url", "submit-url", "admin-url", "scheduler-url", "resource-manager-url", "notifier-url"]
        settings  = {}
        probed    = false
        discovery = false
      }
    },
    {
      for name in local.manager_names : name => {
        part      = "resource-manager", arguments = ["resource-manager"], count = 1, cpu = var.resource_manager.cpu, memory = var.resource_manager.memory, stop = 60
        secrets   = ["resource-manager-url", "bus-url", "executor-secret"]
        settings  = { BERTH_RESOURCE_MANAGER__LISTEN = "0.0.0.0:${local.port["resource-manager"]}", BERTH_RESOURCE_MANAGER__HEALTH_LISTEN = local.health }
        probed    = true
        discovery = true
      }
    },
    {
      for name, role in var.more_roles : name => {
        part      = name, arguments = role.arguments, count = role.count, cpu = role.cpu, memory = role.memory, stop = 60
        secrets   = keys(role.secrets)
        settings  = role.settings
        probed    = false
        discovery = false
      }
    },
  )
}

module "service" {
  source   = "./service"
  for_each = local.roles

  name       = "${var.name}-${each.key}"
  cluster    = aws_ecs_cluster.main.arn
  image      = var.image
  arguments  = each.value.arguments
  cpu        = each.value.cpu
  memory     = each.value.memory
  wanted     = each.value.count
  one_off    = each.key == "migrate" || !var.roles_running
  probed     = each.value.probed
  stop_after = each.value.stop
  settings   = merge({ BERTH_TELEMETRY__FORMAT = "json" }, var.settings, each.value.settings)
  secrets = merge(
    { for key in each.value.secrets : lookup(try(var.more_roles[each.key].secrets, {}), key, local.secret_settings[key]) => aws_secretsmanager_secret.main[key].arn }
  )

  subnet_ids           = values(each.key == "notifier" ? aws_subnet.notifiers : aws_subnet.core)[*].id
  security_group_ids   = [aws_security_group.part[each.value.part].id]
  behind_load_balancer = each.key == "api"
  target_group_arn     = aws_lb_target_group.api.arn
  discovered           = each.value.discovery
  namespace_id         = aws_service_discovery_private_dns_namespace.main.id
  discovery_name       = each.key
  log_group            = aws_cloudwatch_log_group.main[each.key].name
  log_group_arn        = aws_cloudwatch_log_group.main[each.key].arn
  kms_key_arn          = aws_kms_key.main.arn

  # Values first, and a listener: a service with a target group that nothing uses is refused.
  depends_on = [aws_secretsmanager_secret_version.main, aws_lb_listener.https]
}

resource "aws_appautoscaling_target" "api" {
  count              = var.roles_running ? 1 : 0
  service_namespace  = "ecs"
  resource_id        = "service/${aws_ecs_cluster.main.name}/${module.service["api"].service_name}"
  scalable_dimension = "ecs:service:DesiredCount"
  min_capacity       = var.api.min
  max_capacity       = var.api.max
}

resource "aws_appautoscaling_policy" "api" {
  count              = var.roles_running ? 1 : 0
  name               = "${var.name}-api-cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.api[0].service_namespace
  resource_id        = aws_appautoscaling_target.api[0].resource_id
  scalable_dimension = aws_appautoscaling_target.api[0].scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = 60
    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}
