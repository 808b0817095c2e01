# Values that AWS would compute, where others check their form.

mock_data "aws_region" {
  defaults = { name = "eu-central-1" }
}
mock_data "aws_caller_identity" {
  defaults = { account_id = "123456789012" }
}
mock_data "aws_partition" {
  defaults = { partition = "aws" }
}
mock_resource "aws_kms_key" {
  defaults = { arn = "arn:aws:kms:eu-central-1:123456789012:key/0", key_id = "0" }
}
mock_resource "aws_cloudwatch_log_group" {
  defaults = { arn = "arn:aws:logs:eu-central-1:123456789012:log-group:x" }
}
mock_resource "aws_iam_role" {
  defaults = { arn = "arn:aws:iam::123456789012:role/x" }
}
mock_resource "aws_iam_instance_profile" {
  defaults = { arn = "arn:aws:iam::123456789012:instance-profile/x" }
}
mock_resource "aws_ecs_cluster" {
  defaults = { arn = "arn:aws:ecs:eu-central-1:123456789012:cluster/x" }
}
mock_resource "aws_ecs_task_definition" {
  defaults = { arn = "arn:aws:ecs:eu-central-1:123456789012:task-definition/x:1" }
}
mock_resource "aws_lb" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/x/0", arn_suffix = "app/x/0" }
}
mock_resource "aws_lb_listener" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/app/x/0/0" }
}
mock_resource "aws_lb_target_group" {
  defaults = { arn = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/x/0", arn_suffix = "targetgroup/x/0" }
}
mock_resource "aws_service_discovery_service" {
  defaults = { arn = "arn:aws:servicediscovery:eu-central-1:123456789012:service/x" }
}
mock_resource "aws_cloudformation_stack" {
  defaults = { outputs = { Endpoints = "amqps://b-0.mq.eu-central-1.amazonaws.com:5671", Users = "users" } }
}
mock_resource "aws_db_instance" {
  defaults = { address = "db.example.com", port = 5432 }
}
mock_resource "aws_launch_template" {
  defaults = { id = "lt-0123456789abcdef0", latest_version = 1 }
}
