//! `/v1/workflows`.

use crate::send::Call;
use crate::{
    ApiResponse, Client, ClientError, DeletedWorkflow, Page, PageRequest, RawJson, Workflow,
    WorkflowVersion,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

impl Client {
    /// Stores a workflow, or changes it: with `if_version` only in that version. The same again changes nothing. The definition is
    /// sent as it is, so that its nodes keep their order.
    ///
    /// # Errors
    /// An invalid definition; 412 for another version; no response.
    pub async fn put_workflow(
        &self,
        name: &str,
        definition: &RawJson,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<Workflow>, ClientError> {
        let body = definition.as_str().to_owned();
        self.send(Call::put(path(name)).json(body).if_version(if_version)).await
    }

    /// Shows a workflow with its definition.
    ///
    /// # Errors
    /// 404 for an unknown workflow; no response.
    pub async fn workflow(&self, name: &str) -> Result<ApiResponse<Workflow>, ClientError> {
        self.send(Call::get(path(name))).await
    }

    /// One page of your workflows, by name. [`Page::next`] leads to the next.
    ///
    /// # Errors
    /// A cursor that the server refuses; no response.
    pub async fn workflows(
        &self,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<Workflow>>, ClientError> {
        self.send(Call::get("v1/workflows").query(page.parameters())).await
    }

    /// One page of the versions of a workflow, newest first, without their definitions.
    ///
    /// # Errors
    /// 404 for an unknown workflow; a cursor that the server refuses; no response.
    pub async fn workflow_versions(
        &self,
        name: &str,
        page: &PageRequest,
    ) -> Result<ApiResponse<Page<WorkflowVersion>>, ClientError> {
        let path = format!("{}/versions", path(name));
        self.send(Call::get(path).query(page.parameters())).await
    }

    /// Shows a version of a workflow with its definition.
    ///
    /// # Errors
    /// 404 for an unknown workflow, and a version that is not kept; no response.
    pub async fn workflow_version(
        &self,
        name: &str,
        version: i64,
    ) -> Result<ApiResponse<WorkflowVersion>, ClientError> {
        self.send(Call::get(format!("{}/versions/{version}", path(name)))).await
    }

    /// Deletes a workflow: with `if_version` only in that version. Its runs continue.
    ///
    /// # Errors
    /// 404 for an unknown workflow; 412 for another version; no response.
    pub async fn delete_workflow(
        &self,
        name: &str,
        if_version: Option<i64>,
    ) -> Result<ApiResponse<DeletedWorkflow>, ClientError> {
        self.send(Call::delete(path(name)).if_version(if_version)).await
    }
}

fn path(name: &str) -> String {
    format!("v1/workflows/{}", utf8_percent_encode(name, NON_ALPHANUMERIC))
}
