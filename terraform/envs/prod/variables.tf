variable "region" {
  type = string
}

variable "image" {
  description = "Image of Berth in ECR, with a fixed tag or a digest."
  type        = string
}

variable "certificate_arn" {
  type = string
}

variable "executor_ami_id" {
  description = "Image of executors: ../../modules/aws/executors/README.md."
  type        = string
}

variable "alarm_topic_arns" {
  type = list(string)
}

# As JSON in TF_VAR_passwords: ../../modules/aws/README.md.
variable "passwords" {
  type      = map(string)
  ephemeral = true
}

variable "passwords_version" {
  description = "Raise it to write `passwords` again."
  type        = number
  default     = 1
}

variable "access_log_bucket" {
  description = "S3 bucket for the access logs of the load balancer."
  type        = string
  default     = ""
}

variable "web_acl_arn" {
  description = "WAF in front of the load balancer."
  type        = string
  default     = ""
}

variable "roles_running" {
  description = "false in the first run: then the migration, then true."
  type        = bool
  default     = true
}
