module "executors" {
  source   = "./executors"
  for_each = var.pools

  name           = "${var.name}-${each.key}"
  pool           = each.key
  ami_id         = each.value.ami_id
  root_device    = each.value.root_device
  instance_type  = each.value.instance_type
  min            = each.value.min
  wanted         = each.value.wanted
  max            = each.value.max
  disk_gib       = each.value.disk_gib
  drivers        = each.value.drivers
  drain_seconds  = each.value.drain_seconds
  internet_ports = each.value.internet_ports
  egress         = each.value.egress
  settings       = each.value.settings
  scaling_metric = each.value.scaling_metric

  vpc_id                  = aws_vpc.main.id
  subnet_ids              = values(aws_subnet.executors)[*].id
  resource_managers       = local.manager_addresses
  manager_security_group  = aws_security_group.part["resource-manager"].id
  manager_port            = local.port["resource-manager"]
  endpoint_security_group = aws_security_group.part["endpoints"].id
  secret_arn              = aws_secretsmanager_secret.main["executor-secret"].arn
  kms_key_arn             = aws_kms_key.main.arn
  alarm_topic_arns        = var.alarm_topic_arns
}
