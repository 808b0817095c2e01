data "aws_region" "here" {}

locals {
  assume = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }] })

  # Needs bash in the image, and no program for HTTP.
  probe = "exec 3<>/dev/tcp/127.0.0.1/9090 && printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [[ $status == 200 ]]"

  container = {
    name                   = "berth"
    image                  = var.image
    essential              = true
    entryPoint             = ["berth"]
    command                = var.arguments
    user                   = "10001:10001"
    readonlyRootFilesystem = true
    stopTimeout            = var.stop_after
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
    portMappings           = var.behind_load_balancer ? [{ containerPort = 8080, protocol = "tcp" }] : []
    environment            = [for key in sort(keys(var.settings)) : { name = key, value = var.settings[key] }]
    secrets                = [for key in sort(keys(var.secrets)) : { name = key, valueFrom = var.secrets[key] }]
    healthCheck            = var.probed ? { command = ["CMD", "bash", "-c", local.probe], interval = 10, timeout = 5, retries = 3, startPeriod = 60 } : null
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = var.log_group
        awslogs-region        = data.aws_region.here.name
        awslogs-stream-prefix = "berth"
        mode                  = "non-blocking"
        max-buffer-size       = "4m"
      }
    }
  }
}

# For ECS itself: pulls the image, reads this role's secrets, writes its log.
resource "aws_iam_role" "execution" {
  name               = "${var.name}-execution"
  assume_role_policy = local.assume
}

resource "aws_iam_role_policy" "execution" {
  name = "start"
  role = aws_iam_role.execution.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Effect = "Allow", Action = ["ecr:GetAuthorizationToken"], Resource = "*" },
      {
        Effect   = "Allow"
        Action   = ["ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"]
        Resource = local.repository
      },
      { Effect = "Allow", Action = ["logs:CreateLogStream", "logs:PutLogEvents"], Resource = "${var.log_group_arn}:*" },
      { Effect = "Allow", Action = ["secretsmanager:GetSecretValue"], Resource = values(var.secrets) },
      {
        Effect    = "Allow"
        Action    = ["kms:Decrypt"]
        Resource  = var.kms_key_arn
        Condition = { StringEquals = { "kms:ViaService" = "secretsmanager.${data.aws_region.here.name}.amazonaws.com" } }
      },
    ]
  })
}

data "aws_partition" "here" {}

locals {
  # ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG
  parts      = regex("^(?P<account>[0-9]{12})\\.dkr\\.ecr\\.(?P<region>[a-z0-9-]+)\\.[^/]+/(?P<name>[^:@]+)", var.image)
  repository = "arn:${data.aws_partition.here.partition}:ecr:${local.parts.region}:${local.parts.account}:repository/${local.parts.name}"
}

# For the program, which calls no AWS service.
resource "aws_iam_role" "task" {
  name               = "${var.name}-task"
  assume_role_policy = local.assume
}

resource "aws_ecs_task_definition" "main" {
  family                   = var.name
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = var.cpu
  memory                   = var.memory
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.task.arn
  container_definitions    = jsonencode([local.container])
}

resource "aws_service_discovery_service" "main" {
  count = var.discovered ? 1 : 0
  name  = var.discovery_name

  dns_config {
    namespace_id   = var.namespace_id
    routing_policy = "MULTIVALUE"
    dns_records {
      type = "A"
      ttl  = 10
    }
  }

  health_check_custom_config {
    failure_threshold = 1
  }
}

# Two of them, because `ignore_changes` cannot depend on a variable: of the one, autoscaling changes the number of tasks.

resource "aws_ecs_service" "fixed" {
  count           = var.one_off || var.behind_load_balancer ? 0 : 1
  name            = var.name
  cluster         = var.cluster
  task_definition = aws_ecs_task_definition.main.arn
  desired_count   = var.wanted
  launch_type     = "FARGATE"
  propagate_tags  = "SERVICE"

  # A new task is up before an old one drains.
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = var.subnet_ids
    security_groups  = var.security_group_ids
    assign_public_ip = false
  }

  dynamic "service_registries" {
    for_each = aws_service_discovery_service.main
    content {
      registry_arn = service_registries.value.arn
    }
  }
}

resource "aws_ecs_service" "scaled" {
  count           = !var.one_off && var.behind_load_balancer ? 1 : 0
  name            = var.name
  cluster         = var.cluster
  task_definition = aws_ecs_task_definition.main.arn
  desired_count   = var.wanted
  launch_type     = "FARGATE"
  propagate_tags  = "SERVICE"

  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200
  health_check_grace_period_seconds  = 60

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = var.subnet_ids
    security_groups  = var.security_group_ids
    assign_public_ip = false
  }

  load_balancer {
    target_group_arn = var.target_group_arn
    container_name   = "berth"
    container_port   = 8080
  }

  lifecycle {
    ignore_changes = [desired_count]
  }
}
