# Five kinds of subnets in each zone: public (load balancer, NAT), core (roles), notifiers, data (engines), executors. Only executors
# and notifiers have a route to the internet; roles reach AWS by endpoints, and the engines reach nothing.

locals {
  zones = { for number, zone in var.zones : zone => number }
}

resource "aws_vpc" "main" {
  cidr_block           = var.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = { Name = var.name }
}

# Closed, so that nothing that names no group is reachable.
resource "aws_default_security_group" "closed" {
  vpc_id = aws_vpc.main.id
}

resource "aws_subnet" "public" {
  for_each                = local.zones
  vpc_id                  = aws_vpc.main.id
  availability_zone       = each.key
  cidr_block              = cidrsubnet(var.cidr, 8, each.value)
  map_public_ip_on_launch = false
  tags                    = { Name = "${var.name}-public-${each.key}" }
}

resource "aws_subnet" "core" {
  for_each          = local.zones
  vpc_id            = aws_vpc.main.id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.cidr, 8, 16 + each.value)
  tags              = { Name = "${var.name}-core-${each.key}" }
}

resource "aws_subnet" "data" {
  for_each          = local.zones
  vpc_id            = aws_vpc.main.id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.cidr, 8, 32 + each.value)
  tags              = { Name = "${var.name}-data-${each.key}" }
}

resource "aws_subnet" "executors" {
  for_each          = local.zones
  vpc_id            = aws_vpc.main.id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.cidr, 4, 4 + each.value)
  tags              = { Name = "${var.name}-executors-${each.key}" }
}

# The role that calls receivers of webhooks, away from those that need no internet.
resource "aws_subnet" "notifiers" {
  for_each          = local.zones
  vpc_id            = aws_vpc.main.id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.cidr, 8, 48 + each.value)
  tags              = { Name = "${var.name}-notifiers-${each.key}" }
}

resource "aws_internet_gateway" "main" {
  vpc_id = aws_vpc.main.id
  tags   = { Name = var.name }
}

resource "aws_eip" "nat" {
  for_each = var.single_nat ? { for zone, number in local.zones : zone => number if number == 0 } : local.zones
  domain   = "vpc"
  tags     = { Name = "${var.name}-nat-${each.key}" }
}

resource "aws_nat_gateway" "main" {
  for_each      = aws_eip.nat
  allocation_id = each.value.id
  subnet_id     = aws_subnet.public[each.key].id
  tags          = { Name = "${var.name}-${each.key}" }
  depends_on    = [aws_internet_gateway.main]
}

resource "aws_route_table" "public" {
  vpc_id = aws_vpc.main.id
  tags   = { Name = "${var.name}-public" }
}

resource "aws_route" "public" {
  route_table_id         = aws_route_table.public.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.main.id
}

resource "aws_route_table_association" "public" {
  for_each       = local.zones
  subnet_id      = aws_subnet.public[each.key].id
  route_table_id = aws_route_table.public.id
}

# No route leaves the VPC.
resource "aws_route_table" "inner" {
  vpc_id = aws_vpc.main.id
  tags   = { Name = "${var.name}-inner" }
}

resource "aws_route_table_association" "core" {
  for_each       = local.zones
  subnet_id      = aws_subnet.core[each.key].id
  route_table_id = aws_route_table.inner.id
}

resource "aws_route_table_association" "data" {
  for_each       = local.zones
  subnet_id      = aws_subnet.data[each.key].id
  route_table_id = aws_route_table.inner.id
}

resource "aws_route_table" "executors" {
  for_each = local.zones
  vpc_id   = aws_vpc.main.id
  tags     = { Name = "${var.name}-executors-${each.key}" }
}

resource "aws_route" "executors" {
  for_each               = local.zones
  route_table_id         = aws_route_table.executors[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = var.single_nat ? one(values(aws_nat_gateway.main)).id : aws_nat_gateway.main[each.key].id
}

resource "aws_route_table_association" "executors" {
  for_each       = local.zones
  subnet_id      = aws_subnet.executors[each.key].id
  route_table_id = aws_route_table.executors[each.key].id
}

resource "aws_route_table" "notifiers" {
  for_each = local.zones
  vpc_id   = aws_vpc.main.id
  tags     = { Name = "${var.name}-notifiers-${each.key}" }
}

resource "aws_route" "notifiers" {
  for_each               = local.zones
  route_table_id         = aws_route_table.notifiers[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = var.single_nat ? one(values(aws_nat_gateway.main)).id : aws_nat_gateway.main[each.key].id
}

resource "aws_route_table_association" "notifiers" {
  for_each       = local.zones
  subnet_id      = aws_subnet.notifiers[each.key].id
  route_table_id = aws_route_table.notifiers[each.key].id
}

resource "aws_vpc_endpoint" "interface" {
  for_each            = toset(["ecr.api", "ecr.dkr", "logs", "secretsmanager", "autoscaling"])
  vpc_id              = aws_vpc.main.id
  service_name        = "com.amazonaws.${local.region}.${each.key}"
  vpc_endpoint_type   = "Interface"
  private_dns_enabled = true
  subnet_ids          = values(aws_subnet.core)[*].id
  security_group_ids  = [aws_security_group.part["endpoints"].id]
  tags                = { Name = "${var.name}-${each.key}" }
}

# ECR keeps layers in S3.
resource "aws_vpc_endpoint" "s3" {
  vpc_id            = aws_vpc.main.id
  service_name      = "com.amazonaws.${local.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = concat([aws_route_table.inner.id], values(aws_route_table.notifiers)[*].id)
  tags              = { Name = "${var.name}-s3" }
}

resource "aws_flow_log" "main" {
  vpc_id          = aws_vpc.main.id
  traffic_type    = "ALL"
  log_destination = aws_cloudwatch_log_group.main["flow"].arn
  iam_role_arn    = aws_iam_role.flow.arn
}

resource "aws_iam_role" "flow" {
  name               = "${var.name}-flow"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "vpc-flow-logs.amazonaws.com" } }] })
}

resource "aws_iam_role_policy" "flow" {
  name = "write"
  role = aws_iam_role.flow.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
      Resource = "${aws_cloudwatch_log_group.main["flow"].arn}:*"
    }]
  })
}

# Where executors find each resource manager by its own name.
resource "aws_service_discovery_private_dns_namespace" "main" {
  name = "${var.name}.internal"
  vpc  = aws_vpc.main.id
}
