# The provider keeps a broker's password in its state. CloudFormation reads it from Secrets Manager itself: the template has a
# reference, and the state has the template. It names the version of the secret: a new one changes the template.

locals {
  broker_template = {
    AWSTemplateFormatVersion = "2010-09-09"
    Description              = "RabbitMQ of ${var.name}"
    Resources = {
      Broker = {
        Type = "AWS::AmazonMQ::Broker"
        Properties = {
          BrokerName              = var.name
          EngineType              = "RABBITMQ"
          EngineVersion           = var.broker.engine_version
          HostInstanceType        = var.broker.instance_type
          DeploymentMode          = var.broker.cluster ? "CLUSTER_MULTI_AZ" : "SINGLE_INSTANCE"
          PubliclyAccessible      = false
          SubnetIds               = var.broker.cluster ? values(aws_subnet.data)[*].id : [values(aws_subnet.data)[0].id]
          SecurityGroups          = [aws_security_group.part["bus"].id]
          AutoMinorVersionUpgrade = true
          EncryptionOptions       = { UseAwsOwnedKey = false, KmsKeyId = aws_kms_key.main.arn }
          Logs                    = { General = true }
          Users = [{
            Username = "berth"
            Password = "{{resolve:secretsmanager:${aws_secretsmanager_secret.passwords.arn}:SecretString:bus::${aws_secretsmanager_secret_version.passwords.version_id}}}"
          }]
        }
      }
    }
    Outputs = {
      Endpoints = { Value = { "Fn::Join" = [",", { "Fn::GetAtt" = ["Broker", "AmqpEndpoints"] }] } }
    }
  }
}

resource "aws_cloudformation_stack" "broker" {
  name          = "${var.name}-broker"
  template_body = jsonencode(local.broker_template)
  # Events of the stack go where alarms go.
  notification_arns = var.alarm_topic_arns
}
