# What docs/observability.md asks to watch, where AWS has a metric for it. Berth's own metrics are scraped: they say more.

locals {
  bytes_per_gib = 1073741824
  cache_nodes   = { for number in range(var.redis.nodes) : format("%03d", number + 1) => format("%s-%03d", var.name, number + 1) }

  alarms = merge(
    {
      postgres-cpu         = { metric = "CPUUtilization", above = 80, space = "AWS/RDS", of = { DBInstanceIdentifier = aws_db_instance.main.identifier }, says = "Postgres is busy: start delay rises" }
      postgres-connections = { metric = "DatabaseConnections", above = floor(var.database.max_connections * 0.8), space = "AWS/RDS", of = { DBInstanceIdentifier = aws_db_instance.main.identifier }, says = "Postgres is short of connections: docs/database.md" }
      postgres-storage     = { metric = "FreeStorageSpace", below = floor(var.database.storage_gib * 0.15 * local.bytes_per_gib), space = "AWS/RDS", of = { DBInstanceIdentifier = aws_db_instance.main.identifier }, says = "The disk of Postgres is filling" }
      postgres-memory      = { metric = "FreeableMemory", below = floor(0.25 * local.bytes_per_gib), space = "AWS/RDS", of = { DBInstanceIdentifier = aws_db_instance.main.identifier }, says = "Postgres is short of memory" }
      bus-messages         = { metric = "MessageReadyCount", above = var.broker.alarm_messages, space = "AWS/AmazonMQ", of = { Broker = var.name }, says = "Hints are not consumed: too few resource managers, or none for a pool" }
      bus-consumers        = { metric = "ConsumerCount", below = 1, space = "AWS/AmazonMQ", of = { Broker = var.name }, says = "Nobody consumes hints: nothing new starts" }
      bus-cpu              = { metric = "SystemCpuUtilization", above = 80, space = "AWS/AmazonMQ", of = { Broker = var.name }, says = "RabbitMQ is busy" }
      api-5xx              = { metric = "HTTPCode_Target_5XX_Count", above = 10, stat = "Sum", space = "AWS/ApplicationELB", of = { LoadBalancer = aws_lb.main.arn_suffix }, says = "The api answers 5xx: Postgres is slow or away, or there are too few api processes" }
      lb-5xx               = { metric = "HTTPCode_ELB_5XX_Count", above = 10, stat = "Sum", space = "AWS/ApplicationELB", of = { LoadBalancer = aws_lb.main.arn_suffix }, says = "The load balancer answers 5xx: no api answers it" }
      api-no-hosts         = { metric = "HealthyHostCount", below = 1, stat = "Minimum", missing = "breaching", space = "AWS/ApplicationELB", of = { LoadBalancer = aws_lb.main.arn_suffix, TargetGroup = aws_lb_target_group.api.arn_suffix }, says = "No api is ready" }
      api-unhealthy-hosts  = { metric = "UnHealthyHostCount", above = 0, periods = 10, space = "AWS/ApplicationELB", of = { LoadBalancer = aws_lb.main.arn_suffix, TargetGroup = aws_lb_target_group.api.arn_suffix }, says = "An api is not ready for ten minutes" }
      errors               = { metric = "Errors", above = 0, periods = 1, stat = "Sum", space = var.name, of = {}, says = "A role logged an error: it needs a person" }
    },
    {
      for role in concat(["api", "scheduler", "notifier"], local.manager_names) : "${role}-tasks" => {
        metric = "RunningTaskCount", below = role == "api" ? var.api.min : local.roles[role].count, missing = "breaching", space = "ECS/ContainerInsights"
        of     = { ClusterName = aws_ecs_cluster.main.name, ServiceName = "${var.name}-${role}" }, says = "Fewer tasks of ${role} run than wanted"
      }
    },
    {
      for number, node in local.cache_nodes : "redis-memory-${number}" => {
        metric = "DatabaseMemoryUsagePercentage", above = 80, space = "AWS/ElastiCache", of = { CacheClusterId = node }, says = "Redis is short of memory: limits are then enforced by process"
      }
    },
    {
      for number, node in local.cache_nodes : "redis-cpu-${number}" => {
        metric = "EngineCPUUtilization", above = 80, space = "AWS/ElastiCache", of = { CacheClusterId = node }, says = "Redis is busy"
      }
    },
  )
}

resource "aws_cloudwatch_metric_alarm" "main" {
  for_each            = local.alarms
  alarm_name          = "${var.name}-${each.key}"
  alarm_description   = each.value.says
  namespace           = each.value.space
  metric_name         = each.value.metric
  dimensions          = each.value.of
  statistic           = try(each.value.stat, "Average")
  period              = 60
  evaluation_periods  = try(each.value.periods, 3)
  comparison_operator = try(each.value.above, null) != null ? "GreaterThanThreshold" : "LessThanThreshold"
  threshold           = try(each.value.above, null) != null ? each.value.above : each.value.below
  treat_missing_data  = try(each.value.missing, "notBreaching")
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns
}

# Memory of the broker against its own limit: above it, it blocks publishers.
resource "aws_cloudwatch_metric_alarm" "bus_memory" {
  alarm_name          = "${var.name}-bus-memory"
  alarm_description   = "RabbitMQ is near its limit of memory: above it nothing new starts"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  evaluation_periods  = 3
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns

  metric_query {
    id          = "share"
    expression  = "100 * used / limit"
    label       = "memory used, percent"
    return_data = true
  }
  metric_query {
    id = "used"
    metric {
      namespace   = "AWS/AmazonMQ"
      metric_name = "RabbitMQMemUsed"
      period      = 60
      stat        = "Maximum"
      dimensions  = { Broker = var.name }
    }
  }
  metric_query {
    id = "limit"
    metric {
      namespace   = "AWS/AmazonMQ"
      metric_name = "RabbitMQMemLimit"
      period      = 60
      stat        = "Minimum"
      dimensions  = { Broker = var.name }
    }
  }
}
