variable "name" { type = string }
variable "cluster" { type = string }
variable "image" { type = string }
variable "arguments" { type = list(string) }
variable "cpu" { type = number }
variable "memory" { type = number }
variable "wanted" { type = number }

variable "one_off" {
  description = "Only a task definition, for `aws ecs run-task`."
  type        = bool
  default     = false
}

variable "probed" {
  description = "The role answers /healthz on port 9090; a container that does not is replaced."
  type        = bool
  default     = true
}

variable "stop_after" {
  description = "Seconds from SIGTERM to SIGKILL; Fargate allows 120."
  type        = number

  validation {
    condition     = var.stop_after >= 20 && var.stop_after <= 120
    error_message = "20 to 120."
  }
}

variable "settings" { type = map(string) }

variable "secrets" {
  description = "ARN of a secret by the name of the setting."
  type        = map(string)
}

variable "subnet_ids" { type = list(string) }
variable "security_group_ids" { type = list(string) }

variable "behind_load_balancer" {
  description = "Its port 8080 is a target of `target_group_arn`, and autoscaling sets the number of tasks."
  type        = bool
  default     = false
}

variable "target_group_arn" {
  type    = string
  default = null
}

variable "discovered" {
  description = "The service has the name `discovery_name` in the namespace `namespace_id`."
  type        = bool
  default     = false
}

variable "namespace_id" {
  type    = string
  default = null
}

variable "discovery_name" { type = string }
variable "log_group" { type = string }
variable "log_group_arn" { type = string }
variable "kms_key_arn" { type = string }
