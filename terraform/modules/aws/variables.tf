variable "name" {
  description = "Prefix of all names, such as berth-prod."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,19}$", var.name))
    error_message = "3 to 20 of a-z 0-9 -, starting with a letter."
  }
}

variable "image" {
  description = "Image of Berth with bash, the RDS CAs at `rds_ca_file`, and a fixed tag or digest, in a private ECR repository of this region."
  type        = string

  validation {
    condition     = can(regex("(@sha256:[0-9a-f]{64}|:[^/:]+)$", var.image)) && !endswith(var.image, ":latest")
    error_message = "The image needs a fixed tag or a digest."
  }
}

variable "rds_ca_file" {
  description = "Path in the image of the CAs of RDS (https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem)."
  type        = string
  default     = "/etc/berth/rds.pem"
}

variable "passwords" {
  description = "Passwords and keys, never kept in the state. Read only when `passwords_version` rises, but needed at each run: see README."
  type = object({
    owner            = string
    api              = string
    submit           = string
    admin            = string
    scheduler        = string
    resource_manager = string
    notifier         = string
    bus              = string
    redis            = string
    key_hash_secret  = string
    executor_secret  = string
    jwt_key          = string
  })
  ephemeral = true

  validation {
    condition     = alltrue([for value in values(var.passwords) : can(regex("^[0-9A-Za-z]{32,120}$", value))])
    error_message = "Each is 32 to 120 of 0-9 A-Z a-z: they are parts of URLs."
  }
  validation {
    condition     = length(distinct(values(var.passwords))) == length(values(var.passwords))
    error_message = "No two may be equal."
  }
}

variable "passwords_version" {
  description = "Raise it to write `passwords` again."
  type        = number
  default     = 1
}

variable "cidr" {
  description = "Addresses of the VPC, a /16."
  type        = string
  default     = "10.40.0.0/16"

  validation {
    condition     = can(cidrhost(var.cidr, 0)) && endswith(var.cidr, "/16")
    error_message = "A /16."
  }
}

variable "zones" {
  description = "Names of the availability zones, in an order that stays: it numbers the subnets."
  type        = list(string)

  validation {
    condition     = length(var.zones) >= 2 && length(var.zones) <= 4 && length(distinct(var.zones)) == length(var.zones)
    error_message = "2 to 4: RDS and the load balancer need two."
  }
}

variable "single_nat" {
  description = "One NAT gateway instead of one for each zone: cheaper, and executors and notifiers lose the internet with its zone."
  type        = bool
  default     = false
}

variable "certificate_arn" {
  description = "ACM certificate of the load balancer."
  type        = string
}

variable "allowed_cidrs" {
  description = "Who may reach the load balancer."
  type        = list(string)
  default     = ["0.0.0.0/0"]
}

variable "internal" {
  description = "A load balancer with private addresses only."
  type        = bool
  default     = false
}

variable "web_acl_arn" {
  description = "WAF in front of the load balancer. Empty: none."
  type        = string
  default     = ""
}

variable "access_log_bucket" {
  description = "S3 bucket for the access logs of the load balancer. Empty: none."
  type        = string
  default     = ""
}

variable "alarm_topic_arns" {
  description = "SNS topics that alarms go to."
  type        = list(string)
  default     = []
}

variable "metrics_security_group" {
  description = "Security group, in this VPC, of the Prometheus or collector that scrapes port 9090 of the roles. Empty: none."
  type        = string
  default     = ""
}

variable "log_retention_days" {
  description = "Retention of all logs."
  type        = number
  default     = 365
}

variable "deletion_protection" {
  description = "Database and load balancer cannot be deleted, and the database leaves a last snapshot."
  type        = bool
  default     = true
}

variable "database" {
  description = "RDS for PostgreSQL. `max_connections` is what the alarm compares with; see docs/database.md for what the roles need."
  type = object({
    engine_version  = optional(string, "15")
    instance_class  = optional(string, "db.m7g.large")
    storage_gib     = optional(number, 100)
    max_storage_gib = optional(number, 1000)
    multi_az        = optional(bool, true)
    backup_days     = optional(number, 14)
    max_connections = optional(number, 400)
  })
  default = {}

  validation {
    condition     = tonumber(split(".", var.database.engine_version)[0]) >= 14 && var.database.backup_days >= 1 && var.database.backup_days <= 35
    error_message = "Postgres 14 or newer, and backups of 1 to 35 days: without them there is no point-in-time recovery."
  }
}

variable "broker" {
  description = "Amazon MQ for RabbitMQ. `cluster`: three nodes, one in each zone."
  type = object({
    engine_version = optional(string, "3.13")
    instance_type  = optional(string, "mq.m5.large")
    cluster        = optional(bool, true)
    alarm_messages = optional(number, 20000)
  })
  default = {}
}

variable "redis" {
  description = "ElastiCache. `nodes`: one primary and its replicas, in different zones."
  type = object({
    engine_version = optional(string, "7.1")
    node_type      = optional(string, "cache.t4g.small")
    nodes          = optional(number, 2)
  })
  default = {}

  validation {
    condition     = var.redis.nodes >= 1 && var.redis.nodes <= 6
    error_message = "1 to 6 nodes."
  }
}

variable "api" {
  description = "Fargate tasks of the api, by load of the processors between `min` and `max`."
  type = object({
    cpu    = optional(number, 1024)
    memory = optional(number, 2048)
    min    = optional(number, 2)
    max    = optional(number, 8)
  })
  default = {}
}

variable "scheduler" {
  description = "Fargate tasks of the scheduler."
  type = object({
    cpu    = optional(number, 1024)
    memory = optional(number, 2048)
    count  = optional(number, 2)
  })
  default = {}
}

variable "resource_manager" {
  description = "Fargate tasks of the resource manager. Each has a name of its own, and executors list them all."
  type = object({
    cpu    = optional(number, 1024)
    memory = optional(number, 2048)
    count  = optional(number, 2)
  })
  default = {}
}

variable "notifier" {
  description = "Fargate tasks of the notifier, which sends webhooks. `internet_ports`: TCP ports of receivers that it reaches; null: all."
  type = object({
    cpu            = optional(number, 512)
    memory         = optional(number, 1024)
    count          = optional(number, 2)
    internet_ports = optional(set(number))
  })
  default = {}

  validation {
    condition     = alltrue([for port in coalesce(var.notifier.internet_ports, []) : port >= 1 && port <= 65535])
    error_message = "Ports are 1 to 65535."
  }
}

variable "roles_running" {
  description = "false: all but the services, so that the migration can run before them."
  type        = bool
  default     = true
}

variable "settings" {
  description = "More settings of all roles, as in the environment: {BERTH_LIMITS__MAX_ATTEMPTS = \"50\"}. No secrets: they would be in the state."
  type        = map(string)
  default     = {}

  validation {
    condition = alltrue([for key in keys(var.settings) :
      can(regex("^BERTH_[A-Z_]+__[A-Z0-9_]+$", key)) && !can(regex("(_URL|_SECRET|_KEY|_PASSWORD|OTLP_HEADERS)$", key))
    ])
    error_message = "Names like BERTH_LIMITS__MAX_ATTEMPTS, and no secrets."
  }
}

variable "more_roles" {
  description = "Roles of later versions: the arguments of `berth`, what it reaches (postgres, bus, redis), and names of its secrets (see secrets.tf)."
  type = map(object({
    arguments = list(string)
    count     = optional(number, 1)
    cpu       = optional(number, 512)
    memory    = optional(number, 1024)
    reaches   = optional(set(string), [])
    secrets   = optional(map(string), {})
    settings  = optional(map(string), {})
  }))
  default = {}

  validation {
    condition     = alltrue([for name, role in var.more_roles : can(regex("^[a-z][a-z-]{2,20}$", name)) && length(setsubtract(role.reaches, ["postgres", "bus", "redis"])) == 0])
    error_message = "Names of a-z and -; `reaches` holds postgres, bus, redis."
  }
}

variable "pools" {
  description = "Executors by pool, see executors/README.md."
  type = map(object({
    ami_id         = string
    root_device    = optional(string, "/dev/xvda")
    instance_type  = optional(string, "m7i.large")
    min            = optional(number, 0)
    wanted         = optional(number, 2)
    max            = optional(number, 10)
    disk_gib       = optional(number, 100)
    drivers        = optional(list(string), ["http", "noop"])
    drain_seconds  = optional(number, 30)
    internet_ports = optional(set(number), [])
    egress         = optional(map(object({ cidr = string, port = number })), {})
    settings       = optional(map(string), {})
    scaling_metric = optional(object({
      namespace  = string
      name       = string
      dimensions = optional(map(string), {})
      target     = number
    }))
  }))
  default = {}
}
