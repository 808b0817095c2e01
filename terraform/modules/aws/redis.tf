resource "aws_elasticache_subnet_group" "main" {
  name       = var.name
  subnet_ids = values(aws_subnet.data)[*].id
}

# The users, by CloudFormation for the reason in broker.tf. `default` is what a client without a name would be.
locals {
  redis_template = {
    AWSTemplateFormatVersion = "2010-09-09"
    Description              = "Users of Redis of ${var.name}"
    Resources = {
      Default = {
        Type = "AWS::ElastiCache::User"
        Properties = {
          UserId             = "${var.name}-default"
          UserName           = "default"
          Engine             = "redis"
          AccessString       = "off ~* -@all"
          NoPasswordRequired = true
        }
      }
      Berth = {
        Type = "AWS::ElastiCache::User"
        Properties = {
          UserId   = "${var.name}-berth"
          UserName = "berth"
          Engine   = "redis"
          # docs/limits.md, "What Redis needs".
          AccessString       = "on ~{berth}:* -@all +evalsha +script|load +time +hmget +hset +pexpire"
          AuthenticationMode = { Type = "password", Passwords = ["{{resolve:secretsmanager:${aws_secretsmanager_secret.passwords.arn}:SecretString:redis::${aws_secretsmanager_secret_version.passwords.version_id}}}"] }
        }
      }
      Users = {
        Type       = "AWS::ElastiCache::UserGroup"
        Properties = { UserGroupId = var.name, Engine = "redis", UserIds = [{ Ref = "Default" }, { Ref = "Berth" }] }
      }
    }
    Outputs = { Users = { Value = { Ref = "Users" } } }
  }
}

resource "aws_cloudformation_stack" "redis_users" {
  name          = "${var.name}-redis-users"
  template_body = jsonencode(local.redis_template)
  # Events of the stack go where alarms go.
  notification_arns = var.alarm_topic_arns
}

# Counts of submits only: nothing is lost with it, so it has no snapshots.
resource "aws_elasticache_replication_group" "main" {
  replication_group_id = var.name
  description          = "Rate limits of ${var.name}"
  engine               = "redis"
  engine_version       = var.redis.engine_version
  node_type            = var.redis.node_type
  num_cache_clusters   = var.redis.nodes
  port                 = 6379

  automatic_failover_enabled = var.redis.nodes > 1
  multi_az_enabled           = var.redis.nodes > 1
  subnet_group_name          = aws_elasticache_subnet_group.main.name
  security_group_ids         = [aws_security_group.part["redis"].id]

  transit_encryption_enabled = true
  transit_encryption_mode    = "required"
  at_rest_encryption_enabled = true
  kms_key_id                 = aws_kms_key.main.arn
  user_group_ids             = [aws_cloudformation_stack.redis_users.outputs["Users"]]

  auto_minor_version_upgrade = true
  maintenance_window         = "sun:04:00-sun:05:00"
}
