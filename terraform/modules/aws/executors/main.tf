# Executors of one pool: an autoscaling group of machines that reach the resource managers, AWS endpoints, and what the pool allows.

data "aws_region" "here" {}
data "aws_caller_identity" "me" {}
data "aws_partition" "here" {}

locals {
  arn = "arn:${data.aws_partition.here.partition}"
  settings = merge(var.settings, {
    BERTH_EXECUTOR__POOL              = var.pool
    BERTH_EXECUTOR__DRIVERS           = join(",", var.drivers)
    BERTH_EXECUTOR__RESOURCE_MANAGERS = join(",", var.resource_managers)
    BERTH_EXECUTOR__ISOLATION         = contains(var.drivers, "command") ? "bubblewrap" : "auto"
    BERTH_EXECUTOR__DATA_DIR          = "/var/lib/berth"
    BERTH_EXECUTOR__HEALTH_LISTEN     = "127.0.0.1:9090"
    BERTH_EXECUTOR__DRAIN_GRACE       = "${var.drain_seconds}s"
    BERTH_TELEMETRY__FORMAT           = "json"
  })
  start = templatefile("${path.module}/start.sh.tftpl", {
    settings      = local.settings
    secret_arn    = var.secret_arn
    region        = data.aws_region.here.name
    group         = var.name
    hook          = "drain"
    drain_seconds = var.drain_seconds
  })
}

resource "aws_security_group" "main" {
  name        = "${var.name}-executors"
  description = "Executors of the pool ${var.pool}: nothing comes in"
  vpc_id      = var.vpc_id
  tags        = { Name = "${var.name}-executors" }
}

resource "aws_vpc_security_group_egress_rule" "managers" {
  description                  = "Resource managers"
  security_group_id            = aws_security_group.main.id
  referenced_security_group_id = var.manager_security_group
  ip_protocol                  = "tcp"
  from_port                    = var.manager_port
  to_port                      = var.manager_port
}

resource "aws_vpc_security_group_ingress_rule" "managers" {
  description                  = "Executors of ${var.pool}"
  security_group_id            = var.manager_security_group
  referenced_security_group_id = aws_security_group.main.id
  ip_protocol                  = "tcp"
  from_port                    = var.manager_port
  to_port                      = var.manager_port
}

resource "aws_vpc_security_group_egress_rule" "endpoints" {
  description                  = "AWS endpoints"
  security_group_id            = aws_security_group.main.id
  referenced_security_group_id = var.endpoint_security_group
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_security_group_ingress_rule" "endpoints" {
  description                  = "Executors of ${var.pool}"
  security_group_id            = var.endpoint_security_group
  referenced_security_group_id = aws_security_group.main.id
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 443
}

resource "aws_vpc_security_group_egress_rule" "internet" {
  for_each          = toset([for port in var.internet_ports : tostring(port)])
  description       = "Tasks to the internet"
  security_group_id = aws_security_group.main.id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = tonumber(each.key)
  to_port           = tonumber(each.key)
}

resource "aws_vpc_security_group_egress_rule" "more" {
  for_each          = var.egress
  description       = each.key
  security_group_id = aws_security_group.main.id
  cidr_ipv4         = each.value.cidr
  ip_protocol       = "tcp"
  from_port         = each.value.port
  to_port           = each.value.port
}

resource "aws_iam_role" "main" {
  name               = "${var.name}-executor"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }] })
}

resource "aws_iam_role_policy" "main" {
  name = "start-and-end"
  role = aws_iam_role.main.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = var.secret_arn },
      {
        Effect    = "Allow"
        Action    = ["kms:Decrypt"]
        Resource  = var.kms_key_arn
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${data.aws_region.here.name}.amazonaws.com" } }
      },
      {
        Effect   = "Allow"
        Action   = ["autoscaling:CompleteLifecycleAction"]
        Resource = "${local.arn}:autoscaling:${data.aws_region.here.name}:${data.aws_caller_identity.me.account_id}:autoScalingGroup:*:autoScalingGroupName/${var.name}"
      },
    ]
  })
}

resource "aws_iam_instance_profile" "main" {
  name = "${var.name}-executor"
  role = aws_iam_role.main.name
}

resource "aws_launch_template" "main" {
  name                   = var.name
  image_id               = var.ami_id
  instance_type          = var.instance_type
  update_default_version = true
  ebs_optimized          = true
  user_data              = base64encode(local.start)

  iam_instance_profile {
    arn = aws_iam_instance_profile.main.arn
  }

  # A container or a sandbox on the machine does not get an answer from one hop further. The executor's unit is denied the
  # address altogether (start.sh.tftpl).
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
    http_protocol_ipv6          = "disabled"
    instance_metadata_tags      = "disabled"
  }

  network_interfaces {
    associate_public_ip_address = false
    security_groups             = [aws_security_group.main.id]
    delete_on_termination       = true
  }

  block_device_mappings {
    device_name = var.root_device
    ebs {
      volume_type           = "gp3"
      volume_size           = var.disk_gib
      encrypted             = true
      kms_key_id            = var.kms_key_arn
      delete_on_termination = true
    }
  }

  monitoring {
    enabled = true
  }

  tag_specifications {
    resource_type = "instance"
    tags          = { Name = var.name }
  }
}

resource "aws_autoscaling_group" "main" {
  name                = var.name
  min_size            = var.min
  max_size            = var.max
  desired_capacity    = var.scaling_metric == null ? var.wanted : null
  vpc_zone_identifier = var.subnet_ids
  health_check_type   = "EC2"
  enabled_metrics     = ["GroupDesiredCapacity", "GroupInServiceInstances"]

  launch_template {
    id      = aws_launch_template.main.id
    version = aws_launch_template.main.latest_version
  }

  initial_lifecycle_hook {
    name                 = "drain"
    lifecycle_transition = "autoscaling:EC2_INSTANCE_TERMINATING"
    heartbeat_timeout    = max(120, var.drain_seconds + 120)
    default_result       = "CONTINUE"
  }

  instance_refresh {
    strategy = "Rolling"
    preferences {
      min_healthy_percentage = 90
      max_healthy_percentage = 120
    }
  }

  tag {
    key                 = "Name"
    value               = var.name
    propagate_at_launch = true
  }

  lifecycle {
    precondition {
      condition     = var.min <= var.wanted && var.wanted <= var.max
      error_message = "min <= wanted <= max"
    }
  }
}

resource "aws_autoscaling_policy" "metric" {
  count                  = var.scaling_metric == null ? 0 : 1
  name                   = "${var.name}-wanted"
  autoscaling_group_name = aws_autoscaling_group.main.name
  policy_type            = "TargetTrackingScaling"

  target_tracking_configuration {
    target_value = var.scaling_metric.target
    customized_metric_specification {
      namespace   = var.scaling_metric.namespace
      metric_name = var.scaling_metric.name
      statistic   = "Average"
      dynamic "metric_dimension" {
        for_each = var.scaling_metric.dimensions
        content {
          name  = metric_dimension.key
          value = metric_dimension.value
        }
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "missing" {
  alarm_name          = "${var.name}-executors-missing"
  alarm_description   = "Executors of the pool ${var.pool} are fewer than wanted"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 10
  treat_missing_data  = "notBreaching"
  alarm_actions       = var.alarm_topic_arns
  ok_actions          = var.alarm_topic_arns

  metric_query {
    id          = "missing"
    expression  = "wanted - there"
    label       = "missing"
    return_data = true
  }
  metric_query {
    id = "wanted"
    metric {
      namespace   = "AWS/AutoScaling"
      metric_name = "GroupDesiredCapacity"
      period      = 60
      stat        = "Average"
      dimensions  = { AutoScalingGroupName = aws_autoscaling_group.main.name }
    }
  }
  metric_query {
    id = "there"
    metric {
      namespace   = "AWS/AutoScaling"
      metric_name = "GroupInServiceInstances"
      period      = 60
      stat        = "Average"
      dimensions  = { AutoScalingGroupName = aws_autoscaling_group.main.name }
    }
  }
}
