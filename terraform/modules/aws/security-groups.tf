# Who may reach whom: one line for each way. Only the load balancer is reached from foreign addresses; of the roles here only the
# notifier reaches them.

locals {
  parts = toset(concat(
    ["lb", "api", "scheduler", "resource-manager", "notifier", "migrate", "postgres", "bus", "redis", "endpoints"],
    keys(var.more_roles),
  ))
  roles_of_core = setsubtract(local.parts, ["lb", "postgres", "bus", "redis", "endpoints"])
  port          = { postgres = 5432, bus = 5671, redis = 6379, endpoints = 443, api = 8080, resource-manager = 7070 }

  ways = merge(
    { for role in ["api", "scheduler", "resource-manager", "notifier", "migrate"] : "${role} to postgres" => [role, "postgres"] },
    { for role in ["api", "scheduler", "resource-manager"] : "${role} to bus" => [role, "bus"] },
    { for role in local.roles_of_core : "${role} to endpoints" => [role, "endpoints"] },
    { "api to redis" = ["api", "redis"], "lb to api" = ["lb", "api"] },
    merge([for name, role in var.more_roles : { for to in role.reaches : "${name} to ${to}" => [name, to] }]...),
  )
}

resource "aws_security_group" "part" {
  for_each    = local.parts
  name        = "${var.name}-${each.key}"
  description = "${each.key} of ${var.name}"
  vpc_id      = aws_vpc.main.id
  tags        = { Name = "${var.name}-${each.key}" }
}

resource "aws_vpc_security_group_egress_rule" "way" {
  for_each                     = local.ways
  description                  = each.key
  security_group_id            = aws_security_group.part[each.value[0]].id
  referenced_security_group_id = aws_security_group.part[each.value[1]].id
  ip_protocol                  = "tcp"
  from_port                    = local.port[each.value[1]]
  to_port                      = local.port[each.value[1]]
}

resource "aws_vpc_security_group_ingress_rule" "way" {
  for_each                     = local.ways
  description                  = each.key
  security_group_id            = aws_security_group.part[each.value[1]].id
  referenced_security_group_id = aws_security_group.part[each.value[0]].id
  ip_protocol                  = "tcp"
  from_port                    = local.port[each.value[1]]
  to_port                      = local.port[each.value[1]]
}

# Layers of the image.
resource "aws_vpc_security_group_egress_rule" "s3" {
  for_each          = local.roles_of_core
  description       = "${each.key} to S3"
  security_group_id = aws_security_group.part[each.key].id
  prefix_list_id    = aws_vpc_endpoint.s3.prefix_list_id
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

# Receivers of webhooks. Groups inside let in by group and not by address; what else is private the notifier refuses by itself
# (`notifier.private_targets`).
resource "aws_vpc_security_group_egress_rule" "receivers" {
  for_each          = { for range in tolist(var.notifier.internet_ports == null ? [[0, 65535]] : [for port in var.notifier.internet_ports : [port, port]]) : join("-", distinct(range)) => range }
  description       = "Webhooks to the internet"
  security_group_id = aws_security_group.part["notifier"].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = each.value[0]
  to_port           = each.value[1]
}

resource "aws_vpc_security_group_ingress_rule" "public" {
  for_each          = { for pair in setproduct(var.allowed_cidrs, [80, 443]) : "${pair[0]} ${pair[1]}" => pair }
  description       = "Customers"
  security_group_id = aws_security_group.part["lb"].id
  cidr_ipv4         = each.value[0]
  ip_protocol       = "tcp"
  from_port         = each.value[1]
  to_port           = each.value[1]
}

resource "aws_vpc_security_group_ingress_rule" "metrics" {
  for_each                     = var.metrics_security_group == "" ? [] : local.roles_of_core
  description                  = "Metrics"
  security_group_id            = aws_security_group.part[each.key].id
  referenced_security_group_id = var.metrics_security_group
  ip_protocol                  = "tcp"
  from_port                    = 9090
  to_port                      = 9090
}
