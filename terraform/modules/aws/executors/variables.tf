variable "name" { type = string }

variable "pool" {
  description = "Name of the pool in Berth; it must exist: `berth admin pool set NAME`."
  type        = string
}

variable "ami_id" {
  description = "Image with systemd, nftables, the AWS command line, curl, bubblewrap and /usr/bin/berth."
  type        = string
}

variable "root_device" {
  description = "Name of the first disk in the image: /dev/xvda for Amazon Linux and Debian, /dev/sda1 for Ubuntu."
  type        = string
  default     = "/dev/xvda"
}

variable "instance_type" { type = string }
variable "min" { type = number }

variable "wanted" {
  description = "Number of executors. With `scaling_metric` only the first one."
  type        = number
}

variable "max" { type = number }
variable "disk_gib" { type = number }

variable "drivers" {
  type = list(string)

  validation {
    condition     = length(var.drivers) > 0 && length(setsubtract(var.drivers, ["command", "http", "noop"])) == 0
    error_message = "Of command, http, noop."
  }
}

variable "drain_seconds" {
  description = "Seconds for tasks to end when an instance is taken away (executor.drain_grace)."
  type        = number

  validation {
    condition     = var.drain_seconds >= 0 && var.drain_seconds <= 6900
    error_message = "0 to 6900: a lifecycle hook waits at most two hours."
  }
}

variable "internet_ports" {
  description = "TCP ports of the internet that tasks may reach. Empty: none."
  type        = set(number)
}

variable "egress" {
  description = "More networks that tasks may reach, by a name for the rule."
  type        = map(object({ cidr = string, port = number }))

  validation {
    condition     = alltrue([for rule in values(var.egress) : can(cidrhost(rule.cidr, 0)) && !startswith(rule.cidr, "169.254.") && tonumber(split("/", rule.cidr)[1]) >= 8])
    error_message = "Networks of /8 or smaller, and not the one of the metadata service."
  }
}

variable "settings" {
  description = "More settings, as in the environment. No secrets."
  type        = map(string)
}

variable "scaling_metric" {
  description = "CloudWatch metric that sets the size: `target` is its value per executor. Null: `wanted` executors."
  type = object({
    namespace  = string
    name       = string
    dimensions = optional(map(string), {})
    target     = number
  })
  default = null
}

variable "vpc_id" { type = string }
variable "subnet_ids" { type = list(string) }
variable "resource_managers" { type = list(string) }
variable "manager_security_group" { type = string }
variable "manager_port" { type = number }
variable "endpoint_security_group" { type = string }

variable "secret_arn" {
  description = "Secret with BERTH_AUTH__EXECUTOR_SECRET, the only one that an executor has."
  type        = string
}

variable "kms_key_arn" { type = string }
variable "alarm_topic_arns" { type = list(string) }
