resource "aws_lb" "main" {
  name                       = var.name
  load_balancer_type         = "application"
  internal                   = var.internal
  subnets                    = var.internal ? values(aws_subnet.core)[*].id : values(aws_subnet.public)[*].id
  security_groups            = [aws_security_group.part["lb"].id]
  drop_invalid_header_fields = true
  desync_mitigation_mode     = "strictest"
  enable_deletion_protection = var.deletion_protection
  # Longer than `api.stream_keep_alive` (15 s) and `api.request_timeout` (30 s).
  idle_timeout = 60

  dynamic "access_logs" {
    for_each = var.access_log_bucket == "" ? [] : [var.access_log_bucket]
    content {
      bucket  = access_logs.value
      prefix  = var.name
      enabled = true
    }
  }
}

resource "aws_lb_target_group" "api" {
  name                          = "${var.name}-api"
  vpc_id                        = aws_vpc.main.id
  target_type                   = "ip"
  protocol                      = "HTTP"
  port                          = 8080
  deregistration_delay          = 30
  load_balancing_algorithm_type = "least_outstanding_requests"

  health_check {
    path                = "/readyz"
    matcher             = "200"
    interval            = 5
    timeout             = 3
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "https" {
  load_balancer_arn = aws_lb.main.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-2021-06"
  certificate_arn   = var.certificate_arn

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.api.arn
  }
}

resource "aws_lb_listener" "http" {
  load_balancer_arn = aws_lb.main.arn
  port              = 80
  protocol          = "HTTP"

  default_action {
    type = "redirect"
    redirect {
      protocol    = "HTTPS"
      port        = "443"
      status_code = "HTTP_301"
    }
  }
}

resource "aws_wafv2_web_acl_association" "main" {
  count        = var.web_acl_arn == "" ? 0 : 1
  resource_arn = aws_lb.main.arn
  web_acl_arn  = var.web_acl_arn
}
