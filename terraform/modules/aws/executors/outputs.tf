output "group" {
  description = "Name of the autoscaling group."
  value       = aws_autoscaling_group.main.name
}

output "metadata_options" {
  description = "Of the launch template, for tests."
  value       = one(aws_launch_template.main.metadata_options)
}

output "disk" {
  description = "Of the launch template, for tests."
  value       = one(one(aws_launch_template.main.block_device_mappings).ebs)
}

output "public_address" {
  description = "Whether instances have one, for tests."
  value       = one(aws_launch_template.main.network_interfaces).associate_public_ip_address
}

output "internet_rules" {
  description = "Rules to foreign addresses, for tests."
  value       = concat(values(aws_vpc_security_group_egress_rule.internet)[*].cidr_ipv4, values(aws_vpc_security_group_egress_rule.more)[*].cidr_ipv4)
}

output "start" {
  description = "What an instance runs when it starts, for tests. It holds no secret."
  value       = local.start
}

output "desired_capacity" {
  description = "Fixed size, or null where a metric sets it, for tests."
  value       = var.scaling_metric == null ? aws_autoscaling_group.main.desired_capacity : null
}

output "rights" {
  description = "Rights of an instance, for tests."
  value       = aws_iam_role_policy.main.policy
}
