resource "aws_db_subnet_group" "main" {
  name       = var.name
  subnet_ids = values(aws_subnet.data)[*].id
}

# What Berth needs of a session it sets for its logins itself (docs/database.md).
resource "aws_db_parameter_group" "main" {
  name_prefix = "${var.name}-"
  family      = "postgres${split(".", var.database.engine_version)[0]}"
  description = "Postgres of ${var.name}"

  parameter {
    name  = "rds.force_ssl"
    value = "1"
  }
  parameter {
    name  = "password_encryption"
    value = "scram-sha-256"
  }
  parameter {
    name         = "max_connections"
    value        = tostring(var.database.max_connections)
    apply_method = "pending-reboot"
  }
  parameter {
    name  = "log_min_duration_statement"
    value = "1000"
  }
  parameter {
    name  = "log_lock_waits"
    value = "1"
  }
  parameter {
    # Statements hold no payloads, but their parameters may.
    name  = "log_statement"
    value = "none"
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_db_instance" "main" {
  identifier     = var.name
  engine         = "postgres"
  engine_version = var.database.engine_version
  instance_class = var.database.instance_class

  db_name             = "berth"
  username            = "berth"
  password_wo         = var.passwords.owner
  password_wo_version = var.passwords_version

  storage_type          = "gp3"
  allocated_storage     = var.database.storage_gib
  max_allocated_storage = var.database.max_storage_gib
  storage_encrypted     = true
  kms_key_id            = aws_kms_key.main.arn

  multi_az               = var.database.multi_az
  db_subnet_group_name   = aws_db_subnet_group.main.name
  vpc_security_group_ids = [aws_security_group.part["postgres"].id]
  publicly_accessible    = false
  parameter_group_name   = aws_db_parameter_group.main.name
  ca_cert_identifier     = "rds-ca-rsa2048-g1"

  # Point-in-time recovery reaches as far back as the backups.
  backup_retention_period   = var.database.backup_days
  backup_window             = "01:00-02:00"
  maintenance_window        = "sun:03:00-sun:04:00"
  copy_tags_to_snapshot     = true
  delete_automated_backups  = false
  deletion_protection       = var.deletion_protection
  skip_final_snapshot       = !var.deletion_protection
  final_snapshot_identifier = "${var.name}-final"

  auto_minor_version_upgrade            = true
  allow_major_version_upgrade           = false
  performance_insights_enabled          = true
  performance_insights_kms_key_id       = aws_kms_key.main.arn
  performance_insights_retention_period = 7
  monitoring_interval                   = 60
  monitoring_role_arn                   = aws_iam_role.monitoring.arn
  enabled_cloudwatch_logs_exports       = ["postgresql", "upgrade"]
}

resource "aws_iam_role" "monitoring" {
  name               = "${var.name}-rds-monitoring"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "monitoring.rds.amazonaws.com" } }] })
}

resource "aws_iam_role_policy_attachment" "monitoring" {
  role       = aws_iam_role.monitoring.name
  policy_arn = "arn:${local.partition}:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole"
}
