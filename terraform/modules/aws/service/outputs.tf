output "service_name" {
  value = one(concat(aws_ecs_service.fixed, aws_ecs_service.scaled)[*].name)
}

output "task_definition_arn" {
  value = aws_ecs_task_definition.main.arn
}

output "container" {
  description = "The definition of the container, for tests."
  value       = local.container
}

output "start_policy" {
  description = "What ECS may do to start it, for tests."
  value       = aws_iam_role_policy.execution.policy
}

output "subnet_ids" {
  description = "Where its tasks run, for tests."
  value       = var.subnet_ids
}
